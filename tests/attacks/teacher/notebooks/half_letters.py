# Tries to write what no file can hold.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    for kind in ("code", "markdown", "raw"):
        notebook["cells"].append({"cell_type": kind, "metadata": {"\ud800": "\udfff"}, "source": "# \ud800 \udfff"})
    notebook["metadata"]["\ud800"] = "\udfff"
    return json.dumps(notebook).encode()
