# Tries to keep the class waiting by comparing very many cells.
# share: any

import json


def handed_in(honest):
    notebook = json.loads(honest)
    starters = [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("solution")]
    notebook["cells"] = [cell for cell in notebook["cells"] if cell not in starters]
    for number in range(700):
        text = " ".join(starters[number % len(starters)]["source"])[:300]
        notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": f"({text} {number}"})
    return json.dumps(notebook).encode()
