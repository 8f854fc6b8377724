"""The exercise of chapter 6a: a trainer for any device."""
