# Tries to run a script out of a diagram, which pages do not escape.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    for fence in ("```mermaid", "~~~mermaid", "``` mermaid", "````\tmermaid"):
        text = f"{fence}\ngraph TD\n</pre><img src=x onerror=alert(4242)>\n{fence[:3]}"
        notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": text})
    return json.dumps(notebook).encode()
