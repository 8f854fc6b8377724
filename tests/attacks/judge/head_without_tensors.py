# Tries to keep the grader busy with a tensor that has no number, whose head it has written itself.
# share: 0
# others: any

import json

import autograder.running.child as child


def forged(value):
    head = json.dumps({'a': {'dtype': 'F32', 'shape': [2 ** 40, 2 ** 20, 0], 'data_offsets': [0, 0]}}).encode()
    seen = {'t': 'seen', 'k': 'a', 'v': [[2 ** 40, 2 ** 20, 0], 'float32', 'cpu', False]}
    each = {'t': 'dict', 'v': [['returned', seen], ['inputs', {'t': 'list', 'v': []}]]}
    node = json.dumps({'t': 'list', 'v': [each] * len(value)}).encode()
    return len(node).to_bytes(8, 'big') + node + len(head).to_bytes(8, 'little') + head


child.to_bytes = forged


def standardize(x, dim, eps):
    return x
