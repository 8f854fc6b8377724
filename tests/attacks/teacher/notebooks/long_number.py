# Tries to exhaust the stack of Python's parser, or its time, with a number that Python refuses to write.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    text = 'a = 0x' + 'f' * 18_000
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": text})
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "def my_helper():\n    return " + text})
    return json.dumps(notebook).encode()
