# Tries to end texts early.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    for kind in ("code", "markdown", "raw"):
        notebook["cells"].append({"cell_type": kind, "metadata": {}, "source": "a = '\0'\0\n# \0"})
    return json.dumps(notebook).encode()
