# Tries to exhaust the stack of Python's parser, or its time, with question marks, which IPython looks at one by one.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    text = '?' * 9_000
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": text})
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "def my_helper():\n    return " + text})
    return json.dumps(notebook).encode()
