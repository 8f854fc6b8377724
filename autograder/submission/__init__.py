"""Read a student's submission: from a folder or file to answers in the order of the notebook. Nothing is run.

Begin with `read_submission.py`, which calls the others; `submission.py` defines its input and its result.
`read_student_folder.py` first reads the folder: `choose_submitted_notebook.py` finds the notebook that counts, and
`quarantine_unsafe_files.py` moves harmful files away. `extract_submitted_cells.py` then extracts cells from the bytes:
`notebook_json.py` repairs a damaged notebook, `decode_text_file.py` decodes, `read_exported_script.py` reads a script,
`zip_archive.py` an archive. `unreadable_notebook_messages.py` explains to a student why a file could not be read.

`rebuild_notebook_from_release.py` matches the cells to the released notebook, whose marks `read_released_cells.py`
reads: `find_answers.py` finds the cell that answers each exercise, `extract_answer_statements.py` the statements that
make up an answer. `build_repaired_notebook.py` builds the notebook from both, and `order_repaired_cells.py` orders its
cells. `repair_teacher_assignment_submission.py` does that for assignments that are no chapter.
`report_suspicious_lines.py` names lines that a person should look at.
"""
