"""The example class: students made from the answer bank, for `make grade` and the tests."""
