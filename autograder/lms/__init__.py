"""Downloads of submissions from Canvas and Moodle: files find their students, and their places for grading.

`filenames` reads names, `matching` finds people, `download` is the zip behind its walls, `placing` is a student's
folder, and `collect` goes from one to the next; `told` says what became of it.
"""
