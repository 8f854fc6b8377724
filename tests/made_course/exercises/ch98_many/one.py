"""`one`: what `made.double` asks, under another name."""

from dataclasses import replace

from tests import made

one = replace(made.exercise(), name="one")
