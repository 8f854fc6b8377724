"""Diagnosis: compare observations with the expected ones, recognize known mistakes, and write the report.

Nothing of a student's code runs here. The room builds on exercises/. Begin with `verdict.py` (the result) and
`expected_observations.py` (what is compared with), then `judge_observations.py`. `facet_difference.py` and
`mistake_matching.py` decide; `difference_messages.py`, `author_message.py`, `error_meanings.py` and the `value_*.py`
files write the text.
"""
