"""The exercises of the tests' own course."""
