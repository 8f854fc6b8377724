# Tries to exhaust the stack of Python's parser, or its time, with functions in functions.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    text = 'lambda: ' * 2_200 + '1'
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": text})
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "def my_helper():\n    return " + text})
    return json.dumps(notebook).encode()
