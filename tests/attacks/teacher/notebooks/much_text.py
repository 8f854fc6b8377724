# Tries to keep the class waiting with many long cells.
# share: 0
# says: characters

import json


def handed_in(honest):
    notebook = json.loads(honest)
    notebook["cells"] += [{"cell_type": "code", "metadata": {}, "source": f"a{i}\n" * 4_000} for i in range(100)]
    return json.dumps(notebook).encode()
