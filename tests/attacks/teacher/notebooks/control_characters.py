# Tries to take over the terminal or the page with characters that are no letters.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    text = "\x1b[2J\x1b]0;4242\x07 \x08\x08\x7f \u202e evil \u2028 \u2029 \x85 \x0c \x9b31m"
    for kind in ("code", "markdown", "raw"):
        notebook["cells"].append({"cell_type": kind, "metadata": {}, "source": f"# {text}"})
    return json.dumps(notebook).encode()
