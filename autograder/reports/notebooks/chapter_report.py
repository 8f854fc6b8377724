# The report page of one chapter, a notebook in jupytext's percent format.

# %%
from pathlib import Path

from IPython.display import HTML

from autograder.reports import class_results, chapter_page_sections

# %% tags=["parameters"]
course = "."
stem = ""

# %%
found = class_results.read_results(Path(course), stem)

# %% [markdown]
# ## How the class did
#
# Points are those of nbgrader's gradebook, with manual scores, extra credit and late penalties.

# %%
HTML(chapter_page_sections.overview_section(found))

# %% [markdown]
# ## What the class misunderstood
#
# The sentences by which the most points were lost stand first, with all exercises in which they were read.
# Where an answer shows several known mistakes, what it lost is divided among them.
# Each sentence is the one that the students read; `misunderstandings-names.csv` beside this page lists their names.
# The example is the shortest of a few, without comments and names, to be shown in class; read it first.

# %%
HTML(chapter_page_sections.misunderstandings_section(found))

# %% [markdown]
# ## The exercises
#
# *Separates* compares an exercise with all others: near +1, whoever passes it does well elsewhere; near 0, it makes no
# difference; below 0, look at the exercise.
# It needs at least ten submissions, and says little about an exercise that nearly all or nearly none passed.

# %%
HTML(chapter_page_sections.exercises_section(found))

# %% [markdown]
# ## Answers that no known mistake explains
#
# These students read what was expected and what their answer gave, and no sentence about a misunderstanding.
# A group that is larger than one is worth an entry in the answer bank: the next class reads a sentence.

# %%
HTML(chapter_page_sections.unexplained_answers_table(found))

# %% [markdown]
# ## Submissions that need a person

# %%
HTML(chapter_page_sections.submissions_to_review_section(found))

# %% [markdown]
# ## What was repaired
#
# Notebooks come back damaged from Colab, from copying and from mail; what could be put right was, and cost no points.

# %%
HTML(chapter_page_sections.repairs_section(found))
