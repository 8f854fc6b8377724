# Tries to run a script out of an error message in the feedback.
# share: any

import json


def handed_in(honest):
    notebook = json.loads(honest)
    answer = next(c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "standardize")
    answer["source"] = "raise ValueError('</pre><script>alert(4242)</script><img src=x onerror=alert(4242)>')"
    return json.dumps(notebook).encode()
