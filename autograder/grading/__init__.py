"""Grade one submission, or the submissions of a class, and keep the verdicts.

Begin with `grade_submission.py`: it plans the run of a submission (`execution_plan.py`), has the sandbox run it, judges
the observations (`judge_untrusted_observations.py`) and returns a verdict (`submission_verdict.py`). `assignment.py` is
the data that a worker needs for that, and `assignment_grader.py` the worker's side of it. `class_grading.py` grades a
class on the workers of `grading_executors.py` (in this process, in a pool, or with Dask) and stores the verdict files
(`verdict_store.py`); `class_text_table.py` prints them. `draw_own_code_questions.py` has the sandbox ask about answers.
The room rests on course, diagnosis, exercises, questions, sandbox and submission.
"""
