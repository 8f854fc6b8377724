"""Read a student's submission: from a folder or file to answers in the order of the notebook. Nothing is run.

Begin with `read_submission.py`, which calls the others; `submission.py` defines its input and its result.
`student_folder.py` first finds the notebook that counts (`notebook_choice.py`) and moves harmful files away
(`quarantine_unsafe_files.py`). `submitted_cells.py` then extracts cells from the bytes, whether these are a notebook, a
damaged one, a script or a zip archive (`notebook_json.py`, `text_encoding.py`, `script_export.py`, `zip_archive.py`).
`match_cells_to_release.py` matches the cells to the released notebook (`find_answers.py`, `released_cells.py`,
`answer_extraction.py`), `repaired_notebook.py` builds the notebook from both, and `execution_order.py` orders its
cells. `teacher_assignment.py` does that for assignments that are no chapter. `review_flags.py` names lines that a
person should look at, and `unreadable_files.py` explains to a student why a file could not be read.
"""
