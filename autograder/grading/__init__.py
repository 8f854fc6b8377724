"""Values in, verdicts out: grading one submission, a class, and what can be learned from an answer."""
