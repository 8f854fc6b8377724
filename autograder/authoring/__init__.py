"""Commands for authors: build the course's files, prove its exercises, and make its example class and its site.

It uses `course` to read chapters and answer banks, and `diagnosis` to judge. Begin with `build_course.py` (the build)
and `proof.py` (the checks that an exercise must pass).
"""
