"""What it means: the key, the judgement, the verdict and its words."""
