# Tries to stop the class with cells that are none.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    notebook["cells"] += [None, 7, [], "cell", {"cell_type": ["code"]}, {"cell_type": "heading", "level": 1, "source": "<b>"}]
    notebook["cells"] += [{"cell_type": "code", "source": {"a": 1}}, {"cell_type": "markdown"}, {}]
    return json.dumps(notebook).encode()
