"""Exercises: what an answer must fulfil, the cases that it is called on, and what is observed of each call.

This room imports no other room: it builds on `errors`, `name_bindings` and torch alone. Begin with `exercise.py`
(requirement, case, exercise), then `probe.py` and `observation.py` (call an answer and record plain data) and
`compare_observations.py` (compare two observations). `representation_mismatch.py` finds right values in a wrong form.
The ready-made probes are in `probes/`, by subject. Rules on the text of an answer are in `source_rules.py`.
"""
