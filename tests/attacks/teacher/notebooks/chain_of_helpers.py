# Tries to keep the class waiting with helpers that use each other.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    chain = "".join(f"def a{i}(): a{i + 1}()\n" for i in range(700))
    values = "".join(f"b{i} = b{i + 1} + 0\n" for i in range(1_000))
    literals = "a = 1\n" * 3_000
    for text in (chain, values, literals):
        notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": text})
    answer = next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "standardize")
    answer["source"] += "\n\ndef unused():\n    return a0, b0\n"
    return json.dumps(notebook).encode()
