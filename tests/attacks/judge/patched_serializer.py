# Tries to send other bytes than what was seen.
# share: 0
# others: any

import autograder.sandbox.execution.submission_child

autograder.sandbox.execution.submission_child.encode_plain_data = lambda value: b''


def standardize(x, dim, eps):
    return x
