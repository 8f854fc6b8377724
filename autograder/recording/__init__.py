"""A notebook's cells are run as they stand, in order, and what each of them gives is kept."""
