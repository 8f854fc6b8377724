# Tries to run a script out of a raw cell, which pages take for HTML.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    for kind in ("", "text/html", "text/markdown"):
        metadata = {"raw_mimetype": kind, "format": kind}
        notebook["cells"].append({"cell_type": "raw", "metadata": metadata, "source": "<script>alert(4242)</script>"})
    return json.dumps(notebook).encode()
