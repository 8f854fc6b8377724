# Tries to leave the text that is shown as typed.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    for text in ("```\n<script>alert(4242)</script>", "~~~\n```\n````\n<script>alert(4242)</script>\n`````", "\r```\r<script>alert(4242)</script>"):
        notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": text})
    return json.dumps(notebook).encode()
