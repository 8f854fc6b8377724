"""What readers wrote is used again: `mine` gives it to a lesson, also from the notebook of an earlier chapter.

`mine` decides; `beside` finds the notebook with the answer that passed; `rerun` runs that answer with what it needs.
"""
