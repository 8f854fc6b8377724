"""The exercises of chapter 3a: modules, with their parameters and their buffers."""
