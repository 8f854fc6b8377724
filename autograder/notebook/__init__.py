"""The functions that a student's notebook calls: check, hint, mine, progress, reveal and shows_error.

Begin with `check_and_hint.py`: `check` calls the answer (`call_answer_on_cases.py`), finds its source text
(`kernel_answer_text.py`), judges it, adds notes (`hidden_state.py`), displays the report (`report_rendering.py`) and
stores the result (`progress_log.py`). `assistant_prompt.py` makes a text for an assistant of what `check` has found.
`progress_overview.py` and `skills_card.py` show what has passed; `reveal_and_shows_error.py` and
`own_answer_or_fallback.py` are for the cells of lessons; `review_log.py` stores what `review` has asked. The room rests
on questions, course, diagnosis, exercises and submission. `run_answer_of_other_notebook.py` uses grading and the
sandbox too, and `fresh_case_check.py` starts a judge of grading in a process of its own. `make lab` loads
`name_and_import_error_advice.py`, an extension of IPython, into each kernel.
"""
