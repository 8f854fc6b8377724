# Tries to keep the class waiting with very many cells.
# share: 0
# says: cells

import json


def handed_in(honest):
    notebook = json.loads(honest)
    notebook["cells"] += [{"cell_type": "code", "metadata": {}, "source": f"a{i} = {i}"} for i in range(5000)]
    return json.dumps(notebook).encode()
