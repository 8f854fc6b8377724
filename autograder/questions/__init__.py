"""Multiple-choice questions that are computed from programs: about one's own answer, about a wrong answer of the bank.

Begin with `question.py`, which defines a question. `own_code_questions.py` asks about one's own answer: it runs the
program of `student_program_runs.py`, records the run (`ast_instrumentation.py`, `traced_run.py`), and lets
`questions_on_values.py` and `questions_on_changes.py` ask, with wrong choices of `make_distractors.py`;
`rank_questions.py` says which are worth asking, and which nobody can answer, as their answer comes from what is not
shown (`name_dependencies.py`). `choose_oral_questions.py` chooses among such questions for a talk. `hunt_questions.py`
asks about a wrong answer, a `bug_hunt_file.py`; the wrong choices are sentences that `find_distractors.py` finds.
`question_generator_registry.py` reads the questions that a course asks again in later sittings, and
`review_schedule.py` chooses among them. Nothing here displays a question: `explorers/quiz_widget.py` does. Each
choice of a question is checked by running the program before the question is asked. The room rests on submission,
course, diagnosis and exercises.
"""
