# Tries to confuse with numbers that are none.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    notebook["nbformat"], notebook["nbformat_minor"] = 4.0, float("nan")
    notebook["metadata"] = {"a": float("inf"), "b": -float("inf")}
    for cell in notebook["cells"]:
        cell["execution_count"] = float("nan")
    return json.dumps(notebook).encode()
