"""Grade notebooks as students leave them; an exercise that passed in a real kernel must pass in the grader."""
