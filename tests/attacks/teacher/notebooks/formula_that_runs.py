# Tries to run a script out of a formula.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    for text in (r"$\href{javascript:alert(4242)}{x}$", "$a</script><script>alert(4242)</script>$", r"\begin{a}<img onerror=alert(4242)>\end{a}"):
        notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": text})
    return json.dumps(notebook).encode()
