# Tries to keep what makes the pages busy with texts that take long to render.
# share: 1

import json


UNITS = ("[", "](", "*a ", "_a_ ", "> ", "- ", "x\n=\n", "--\n", "  - a\n", "a\n:", "|a|b|\n|-|-|\n", "<b>", "$", "`")


def handed_in(honest):
    notebook = json.loads(honest)
    for unit in UNITS:
        notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": (unit * 5_000)[:5_000]})
    return json.dumps(notebook).encode()
