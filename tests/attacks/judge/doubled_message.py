# Tries to answer twice, the second time as it pleases.
# share: 0
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


def standardize(x, dim, eps):
    tell({'stage': 11})
    return x
