"""A course as its folder describes it: chapters, exercises, answer banks, points, and shipped observations.

The room builds on exercises/ and diagnosis/. Begin with `course_location.py` (where a course is) and `course.py` (what
students are shipped). `chapter_reader.py` reads a chapter's text into the cells of `chapter_model.py` and checks it.
`answer_bank.py` holds the known answers, and `chapter_judge.py` runs them and judges others by them.
"""
