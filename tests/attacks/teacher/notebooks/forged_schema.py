# Tries to stop the class with metadata of another version.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    for index, cell in enumerate(notebook["cells"]):
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["schema_version"] = (99, 0, -1, "3", None, [])[index % 6]
    return json.dumps(notebook).encode()
