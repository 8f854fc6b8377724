# Tries to have IPython read a cell again for each of very many lines.
# share: 0
# says: lines that begin

import json


def handed_in(honest):
    notebook = json.loads(honest)
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "%time a\n!b\n" * 400})
    return json.dumps(notebook).encode()
