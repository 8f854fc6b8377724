"""A chapter with two sittings, exercises and side paths, as text, for the tests of its derived files."""

from functools import partial

from tests import small_chapter

STEM = "ch08_sides"
read = partial(small_chapter.read, stem=STEM)
TIERS = {"double": "core", "third": "warm-up", "hunt": "stretch"}


def exercise(name: str, worth: str) -> str:
    """Return the cells of an exercise."""
    return f'''\
# %% exercise="{name}"
def {name}(x):
    """Return something of x."""
    ### BEGIN SOLUTION
    return x + x
    ### END SOLUTION

# %% check="{name}" {worth}
check("{name}", {name})
'''


TEXT = f'''\
# %% [markdown] name="opening"
# # Chapter 8: Sides ({{minutes}} minutes)
#
# Side paths take {{side}} minutes, exercises {{exercises}}.
# {"word " * 292}

# %% setup=true
import math

from autograder import check, reveal

# %% [markdown]
# # First sitting: numbers ({{minutes}} minutes, and {{exercises}} for the exercises)

# %% [markdown]
# ## 1 Sums ({{minutes}} minutes)
#
# {"word " * 146}

# %%
total = sum([41, 1])

# %% predict=true
guess = 42  # what is the sum?

# %%
reveal(guess, total)

# %% [markdown]
# {"word " * 150}
#
# ### Exercise: `double` ({{minutes}} minutes)
#
# {"word " * 600}

# %% exercise="double"
def double(x):
    """Return twice x."""
    ### BEGIN SOLUTION
    return x + x
    ### END SOLUTION

# %% check="double" points=2
check("double", double)

# %% [markdown] side=true name="when"
# #### When is a sum exact? ({{minutes}} minutes)
#
# {"word " * 293}

# %% name="exact"
exact = math.fsum([0.1] * 10)
exact

# %% [markdown] name="between"
# Nearly always.

# %% [markdown]
# # Second sitting: more numbers ({{minutes}} minutes; {{side}} for the side path, {{exercises}} for the exercise)
#
# {"word " * 140}

# %% [markdown]
# ### Exercise: `third` ({{minutes}} minutes)

{exercise("third", "points=1")}
# %% [markdown]
# ### Stretch exercise: `hunt` ({{minutes}} minutes)

{exercise("hunt", "extra=1")}
# %% [markdown] side=true
# #### Why not `float16`? (2 minutes)
#
# {"word " * 450}

# %% name="half"
half = 0.5

# %% [markdown] name="end"
# ## The end
'''
