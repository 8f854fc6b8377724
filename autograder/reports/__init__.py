"""Write a teacher's report on a graded class: a page for each chapter, for the course, and for each student.

Begin with `write_reports.py`. It executes the notebooks of `notebooks/`, whose cells call `chapter_page_sections.py`
and `course_page_sections.py`, and `notebook_to_offline_html.py` turns each into a page. `class_results.py` reads the
verdict files and nbgrader's gradebook; `item_analysis.py` and `misunderstandings.py` count; `score_charts.py` draws;
`example_answers.py` shows an answer without its author. `lecture_question_page.py` makes a page to project of the
costliest mistakes, `oral_questions.py` one for a talk with a student; `student_reports.py` and `report_side_files.py`
make the other files. `answer_syntax_structures.py` reads the answers in which `similar_answers.py` finds pairs of equal
structure. `report_comparison.py` compares the tables of two reports, which `report_snapshots.py` keeps and reads;
`share_difference.py` computes how sure a difference is. Beside the report, `parallel_test_forms.py` draws a test for
before and after a course, and `score_parallel_test_forms.py` scores it.
"""
