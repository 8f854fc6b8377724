# Tries to run a script out of outputs that a student wrote.
# share: 1

import json


BUNDLES = (
    {"text/html": "<script>alert(4242)</script>"},
    {"application/javascript": "alert(4242)"},
    {"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(4242)</script></svg>"},
    {"text/markdown": "<img src=x onerror=alert(4242)>"},
    {"text/latex": "</div><script>alert(4242)</script>"},
    {"image/png": '"><script>alert(4242)</script>'},
    {"text/vnd.mermaid": "<img src=x onerror=alert(4242)>"},
    {"application/vnd.jupyter.widget-view+json": {"model_id": "4242"}},
    {"text/plain": "1000.0"},
)
OUTPUTS = [
    *({"output_type": "display_data", "data": bundle, "metadata": {}} for bundle in BUNDLES),
    {"output_type": "execute_result", "data": {"text/plain": "1000.0"}, "metadata": {}, "execution_count": 1},
    {"output_type": "error", "ename": "<script>", "evalue": "alert(4242)", "traceback": ["<script>alert(4242)</script>"]},
    {"output_type": "stream", "name": "stdout", "text": "<script>alert(4242)</script>"},
]


def handed_in(honest):
    notebook = json.loads(honest)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = OUTPUTS
    return json.dumps(notebook).encode()
