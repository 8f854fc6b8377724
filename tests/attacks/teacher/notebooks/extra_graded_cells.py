# Tries to bring graded cells of one's own.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    for name in ("bonus", "check_bonus", "standardize_2"):
        mark = {"grade_id": name, "grade": True, "solution": True, "locked": False, "points": 50, "schema_version": 3}
        cell = {"cell_type": "code", "source": "50.0", "metadata": {"nbgrader": mark}}
        notebook["cells"].append(cell | {"outputs": [], "execution_count": None})
    return json.dumps(notebook).encode()
