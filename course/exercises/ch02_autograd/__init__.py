"""The exercises on autograd: gradients that are asked for, passed on, stopped, and computed by hand."""
