"""The exercises on graphs: how long one is kept, how one is run in parts, and where it is cut."""
