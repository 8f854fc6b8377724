"""The exercises of the excursion: products by letters, and what number formats cannot hold."""
