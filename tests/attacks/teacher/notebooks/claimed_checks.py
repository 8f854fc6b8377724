# Tries to put an own cell in the place of a check.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    for cell in list(notebook["cells"]):
        mark = cell["metadata"].get("nbgrader", {})
        if mark.get("grade"):
            notebook["cells"].insert(0, {**cell, "source": "1000.0", "cell_type": "markdown"})
            notebook["cells"].append({**cell, "source": "1000.0"})
    return json.dumps(notebook).encode()
