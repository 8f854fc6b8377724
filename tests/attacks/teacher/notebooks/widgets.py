# Tries to run what a notebook keeps of its widgets.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    state = {"state": {"4242": {"model_name": "HTMLModel", "state": {"value": "</script><script>alert(4242)</script>"}}}}
    notebook["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": state}
    return json.dumps(notebook).encode()
