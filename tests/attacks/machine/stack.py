# Tries to overflow the stack.
# share: 0

import sys

sys.setrecursionlimit(10**9)


def standardize(x, dim, eps):
    return standardize(x, dim, eps)
