# Tries to keep the checks from running by tags.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["skip-execution", "raises-exception", "remove-cell", "injected-parameters"]
        cell["metadata"] |= {"deletable": True, "editable": True, "skip": True, "jupyter": {"source_hidden": True}}
    return json.dumps(notebook).encode()
