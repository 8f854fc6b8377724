# Tries to exhaust the stack of Python's parser, or its time, with texts in texts.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    text = 'f"{' * 6_000
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": text})
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "def my_helper():\n    return " + text})
    return json.dumps(notebook).encode()
