# Tries to fill the disk with an output that is one line.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    line = {"output_type": "stream", "name": "stdout", "text": "x" * 20_000_000}
    next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")["outputs"] = [line]
    return json.dumps(notebook).encode()
