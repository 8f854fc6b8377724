# Tries to stop the class with marks that are no marks.
# share: 1

import json


ODD = (None, 7, 1e300, [], {}, "", "../../x", "a" * 100_000, "\ud800", "\0", True, [["standardize"]])


def handed_in(honest):
    notebook = json.loads(honest)
    for index, cell in enumerate(notebook["cells"]):
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            continue
        cell["metadata"] = ([], None, 7, {"nbgrader": []}, {"nbgrader": {"grade_id": ODD[index % len(ODD)]}})[index % 5]
        cell["id"] = ODD[index % len(ODD)]
    return json.dumps(notebook).encode()
