"""Diagnosis: compare observations with the expected ones, recognize known mistakes, and write the report.

Nothing of a student's code runs here. The room builds on exercises/. Begin with `verdict.py` (the result) and
`expected_observations.py` (what is compared with), then `judge_answer.py`, which makes the report.
`compare_case_facets.py` finds the first difference, `mistake_matching.py` the known mistake that explains it, and
`source_inspection.py` what the answer's text says about both. `difference_messages.py` writes the message: the author's
own (`choose_message_for_difference.py`), or one about values (`value_format.py`, `number_format.py`), their types
(`value_kinds.py`) or an error (`error_meanings.py`).
"""
