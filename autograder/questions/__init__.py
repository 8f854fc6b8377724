"""Multiple-choice questions that are computed from programs: about one's own answer, about a wrong answer of the bank.

Begin with `question.py`. `question_generators.py` reads the questions that a course asks again in later sittings, and
`review_schedule.py` chooses among them. Nothing here displays a question: `explorers/quiz_widget.py` does. Each choice
of a question is checked by running the program before the question is asked. The room rests on submission, course,
diagnosis and exercises.
"""
