# Tries to overflow the grader's stack.
# share: 0
# says: cannot be read
# others: any

import json
import os
import struct


def tell(head, body=b''):
    text = json.dumps(head).encode() if isinstance(head, dict) else head
    for fd in range(3, 64):
        try:
            os.write(fd, struct.pack('>II', len(text), len(body)) + text + body)
        except OSError:
            pass


tell(b'[' * 50000 + b']' * 50000)


def standardize(x, dim, eps):
    return x
