"""A course as its folder describes it: chapters, exercises, answer banks, points, and shipped observations.

The room builds on exercises/ and diagnosis/. Begin with `course_location.py` (where a course is) and `course.py` (what
students are shipped). `chapter_reader.py` reads a chapter's text into the cells of `chapter_model.py` and checks it:
`cell_text_rules.py` each cell, `lint_chapter.py` the markers and the cells against each other, `side_paths.py`
that the main path does without the side paths. `marked_regions.py` finds solutions and hidden tests in a cell, and
`chapter_minutes.py` computes minutes.

`answer_bank.py` holds the known answers, `compute_expected_observations.py` observes them and the worked solutions on
drawn cases, and `chapter_judge.py` judges others by them. `shipped_observations.py` reads and writes what students get
of these keys, and `points_and_hints.py` the points and hints. `replay_attack.py` scores a cheat that repeats what is
shipped.
"""
