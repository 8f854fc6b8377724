# Tries to run a script where the teacher reads what a student wrote.
# share: 1

import json


TEXT = """My answer
<script>alert(4242)</script>
<img src=x onerror=alert(4242)> <svg/onload=alert(4242)> <body onload=alert(4242)>
<iframe srcdoc="<script>alert(4242)</script>"></iframe>
<style>@import "http://4242.example";</style> <base href="http://4242.example/"> <form action="http://4242.example">
&lt;script&gt;alert(4242)&lt;/script&gt;
"""
PICTURES = "![x](https://4242.example/a.png) and [![x](https://4242.example/b.png)](https://example.org)"


def handed_in(honest):
    notebook = json.loads(honest)
    lesson = next(cell for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    lesson["source"] = "# Chapter\n\n" + TEXT
    for text in (TEXT, PICTURES):
        notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": text})
    return json.dumps(notebook).encode()
