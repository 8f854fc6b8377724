"""A student's file, read and never run: from bytes to answers in the order of the notebook."""
