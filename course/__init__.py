"""PyTorch Basics: the course itself. `autograder` grades it, and knows nothing of it but this folder."""
