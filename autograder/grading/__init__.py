"""Values in, verdicts out: for one submission, and for a class.

`assignment` holds what grading a chapter takes. `plan` says what of a submission is run, `grade` makes a verdict
(`submission_verdict`) of what came of it, and `grader` keeps a chapter ready for that. `class_run` has a class graded
by `executors` and keeps its verdict files (`classroom`); `summary` shows them. The workers of a `shared_pool` are
forked from a `shared_server`, and submissions too. `learn` and `fresh_judge` are for one answer.
"""
