# Tries to run a script out of a picture that is attached to a cell.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    bundle = {"figure.svg": {"image/svg+xml": '"><script>alert(4242)</script>'}, "a": {"text/html": "<b>4242</b>"}}
    for text in ("![](attachment:figure.svg)", "![](attachment:missing.png)", "[x](attachment:a)"):
        notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": text, "attachments": bundle})
    for cell in notebook["cells"][:5]:
        cell["attachments"] = bundle
    return json.dumps(notebook).encode()
