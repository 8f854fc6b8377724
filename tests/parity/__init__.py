"""Notebooks as students leave them, run in a real kernel and graded: what passed there must pass here."""
