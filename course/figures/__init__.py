"""The figures of the chapters, drawn from real tensors."""
