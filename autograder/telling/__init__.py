"""How it is told: feedback in a notebook, as text and as HTML."""
