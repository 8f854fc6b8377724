# Tries to have a page of one's own shown in the place of the feedback.
# share: 1
# says: set aside


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    page = "<script>alert(4242)</script>"
    for name in (f"{folder.name}.html", "evil4242.html", "figure.svg", "page.XHTML"):
        (folder / name).write_text(page)
    (folder / f"{folder.name}_files").mkdir()
    (folder / f"{folder.name}_files" / "page.htm").write_text(page)
