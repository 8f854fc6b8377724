# Tries to exhaust the stack of Python's parser, or its time, with a sum that is a tree as deep as it is long.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    text = '+'.join(['1'] * 9_000)
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": text})
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "def my_helper():\n    return " + text})
    return json.dumps(notebook).encode()
