"""Exercises `one`, `two`, ... with the cases of `made`, for the tests of running several in a row."""
