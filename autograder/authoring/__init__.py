"""Commands for authors: build the course's files, prove its exercises, and make its example class and its site.

It uses `course` to read chapters and answer banks, and `diagnosis` to judge. Begin with `build_course.py`, which
builds: `make_chapter_notebooks.py` makes a chapter's notebooks, `run_nbgrader_release.py` runs nbgrader's release step,
and `stale_observations.py` finds shipped observations that are out of date. `proof.py` checks an exercise: its files
(`exercise_file_checks.py`), the messages on wrong answers (`bank_message_check.py`), mutants of its solution
(`mutation.py` makes them, `surviving_mutants.py` judges them) and its time (`check_declared_solution_time.py`).
`proof_receipts.py` records what is proven.

`new_exercise.py` writes the stubs of an exercise, `custom_exercise.py` is for a teacher's own one, and
`analyze_student_answer.py` and `draft_answer_bank_entry.py` draft a known answer from a student's.
`generate_bug_hunts.py` searches for programs with one faulty line (`generate_single_line_edits.py` edits them,
`match_program_to_mistake.py` runs them), and `write_hunts.py` writes them. `example_class.py` makes the example class;
`site/` makes the site.
"""
