# Tries to exhaust the stack of Python's parser, or its time, with a chain of attributes.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    text = 'a' + '.b' * 9_000
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": text})
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "def my_helper():\n    return " + text})
    return json.dumps(notebook).encode()
