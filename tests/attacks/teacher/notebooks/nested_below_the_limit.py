# Tries to exhaust the stack of what copies the notebook.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    deep = "x"
    for _ in range(180):
        deep = {"a": [deep]}
    notebook["metadata"]["deep"] = deep
    for cell in notebook["cells"]:
        cell["metadata"]["deep"] = deep
        cell["outputs"] = deep
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": [deep, deep]})
    return json.dumps(notebook).encode()
