"""The exercises of chapter 6: a trainer, the same that resumes, one in mixed precision, and a broken one."""
