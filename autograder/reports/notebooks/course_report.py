# The report page of the whole course, a notebook in jupytext's percent format.

# %%
from pathlib import Path

from IPython.display import HTML

from autograder.reports import course_page_sections, class_results

# %% tags=["parameters"]
course = "."
stems: list[str] = []
equal_pairs = 0
by_chance = 0.0

# %%
found = class_results.read_all(Path(course), stems)

# %% [markdown]
# ## The chapters
#
# Each chapter has a page of its own.

# %%
HTML(course_page_sections.chapters_section(found))

# %% [markdown]
# ## What the class misunderstood
#
# The sentences by which the most points were lost, added up over exercises and chapters.
# `misunderstandings-names.csv` beside this page lists the students who read each of them.

# %%
HTML(course_page_sections.costliest_misunderstandings_section(found))

# %% [markdown]
# ## The hardest exercises

# %%
HTML(course_page_sections.hardest_exercises_table(found))

# %% [markdown]
# ## Who is missing

# %%
HTML(course_page_sections.missing_submissions_section(found))

# %% [markdown]
# ## Answers of the same structure

# %%
HTML(course_page_sections.similar_pairs_section(equal_pairs, by_chance))
