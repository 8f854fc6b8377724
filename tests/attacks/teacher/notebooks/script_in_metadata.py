# Tries to run a script out of names, tags and titles.
# share: 1

import json


def handed_in(honest):
    notebook = json.loads(honest)
    evil = '"><script>alert(4242)</script>'
    notebook["metadata"] |= {"title": evil, "authors": [{"name": evil}], "language_info": {"name": evil, "pygments_lexer": evil}}
    for index, cell in enumerate(notebook["cells"]):
        cell["metadata"]["tags"] = [evil]
        cell["metadata"]["name"] = evil
        cell["id"] = f"{evil}{index}"
    return json.dumps(notebook).encode()
