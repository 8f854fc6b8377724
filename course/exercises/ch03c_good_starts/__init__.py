"""The exercises of chapter 3c: first weights, hooks, and two layers with two modes."""
