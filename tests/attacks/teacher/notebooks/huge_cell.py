# Tries to keep the class waiting with a very long cell.
# share: 1
# says: characters

import json


def handed_in(honest):
    notebook = json.loads(honest)
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "a = 1\n" * 100_000})
    return json.dumps(notebook).encode()
