"""Sort a zip of submissions from Canvas, Moodle or Brightspace into the students' folders under `submitted/`.

Begin with `collect_submissions.py`, which runs the whole collection. `download_zip.py` validates and reads the zip,
`filenames.py` parses the names in it, `student_matching.py` finds the student or group of the roster who sent each
file, `entered_text.py` describes text and links that stand in for a file, `student_folders.py` and `placement.py`
write the students' folders, and `collect_report.py` renders the result for the terminal. The roster is that of
`autograder/nbgrader_plugin/`.
"""
