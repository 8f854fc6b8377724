# Tries to exhaust the stack of Python's parser, or its time, with quotes without end.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    text = chr(39) * 18_000
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": text})
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "def my_helper():\n    return " + text})
    return json.dumps(notebook).encode()
