"""The exercises on gradients: by hand, followed downhill, and asked for without a trace."""
