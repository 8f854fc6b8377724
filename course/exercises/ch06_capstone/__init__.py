"""The exercises of chapter 6, the capstone: a trainer that resumes, one in mixed precision, and a broken one."""
