"""The exercises of chapter 6b: a trainer that resumes, and one in mixed precision."""
