"""What a reader's notebook calls: check, hint, progress, reveal, and what check() notes."""
