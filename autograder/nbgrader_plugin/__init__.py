"""Connect the grader to nbgrader: plug-ins for its commands, and everything that reads or writes its gradebook.

Begin with `autograde.py`, whose plug-ins grade in place of nbgrader's own execution, and `nbgrader_cycle.py`, which
runs nbgrader's whole cycle in one process for `autograder grade`. `gradebook_recorder.py` records verdicts,
`gradebook_scores.py` reads marks, `feedback_page.py` renders feedback, `teacher_settings.py` and `apply_deadlines.py`
apply due dates, `roster_import.py` imports students, and `export_plugins.py` exports grades.
`course/nbgrader_config.py` names the plug-ins. The room rests on `autograder/grading/`.
"""
