# Tries to run a script when the teacher clicks a link.
# share: 1

import json


TEXTS = (
    "[my source](javascript:alert(4242))",
    "[my source](  JaVaScRiPt:alert(4242))",
    "[my source](java&#115;cript:alert(4242))",
    "[my source](<javascript:alert(4242)>)",
    "[my source][1]\n\n[1]: javascript:alert(4242)",
    "<javascript:alert(4242)>",
    "![my figure](javascript:alert(4242))",
    "[my source](data:text/html,<script>alert(4242)</script>)",
    "[my source](evil4242.html)",
    "[my source](\tvbscript:alert(4242))",
    "[a](http://example.com\"onclick=alert(4242))",
    "[a](https://example.com '\" onclick=\"alert(4242)')",
)


def handed_in(honest):
    notebook = json.loads(honest)
    for text in TEXTS:
        notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": text})
    return json.dumps(notebook).encode()
