# Tries to leave the code of a page and run.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    text = "# </pre></div><script>alert(4242)</script>\ntext = '<img src=x onerror=alert(4242)>'"
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None})
    return json.dumps(notebook).encode()
