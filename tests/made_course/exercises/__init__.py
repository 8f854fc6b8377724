"""The exercises of a made course."""
