"""Take in submissions from Canvas, Moodle and Brightspace; grade where Gradescope, PrairieLearn and Classroom 50 do.

Begin with `import_submissions_zip.py`, which runs the whole collection. `untrusted_zip.py` validates and reads the zip,
`parse_submission_filenames.py` parses the names in it, `match_files_to_students.py` finds the student or group of the
roster who sent each file, `text_entry_instead_of_notebook.py` describes text and links that stand in for a file,
`fill_student_folders.py` and `save_collected_submission.py` write the students' folders, and
`collection_report_text.py` renders the result for the terminal. The roster is that of `autograder/nbgrader_plugin/`.

`build_platform_bundle.py` packs what a platform needs: the scripts that `platform_bundle_scripts.py` writes, the
package's wheel (`student_package_wheel.py`) and files of the course. There, `grade_on_platform.py` grades one
submission and writes it as the platform reads it: `gradescope_results.py`, `prairielearn_results.py`,
`classroom50_results.py`, each from the rows of `exercise_rows.py`.
"""
