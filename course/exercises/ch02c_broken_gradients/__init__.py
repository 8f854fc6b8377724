"""The exercises on what breaks a gradient, on gradients of several numbers, and on rules of one's own."""
