"""Sort a zip of submissions from Canvas or Moodle into the students' folders under `submitted/`.

Begin with `collect_submissions.py`, which runs the whole collection. `download_zip.py` validates and reads the zip,
`filenames.py` parses the names in it, `student_matching.py` finds the student of the roster who sent each file,
`placement.py` writes a student's folder, and `collect_report.py` renders the result for the terminal. The roster is
that of `autograder/nbgrader_plugin/`.
"""
