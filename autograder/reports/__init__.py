"""What a teacher learns from a graded class: one page for each chapter, and one for the course.

Data flows one way: `results` reads verdict files and gradebook, `items` and `mistakes` count, `examples` shows an
answer without its author, `pictures` and `sections` draw, `notebooks` holds the notebooks that call them, `report` runs
those and writes the pages; `beside` makes the files beside them; `gathered`
reads the answers in which `equal` finds pairs of one structure.
"""
