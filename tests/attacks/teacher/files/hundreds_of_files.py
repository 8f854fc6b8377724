# Tries to keep the class waiting with very many files.
# share: 1
# says: set aside


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    for number in range(700):
        (folder / f"data-{number}.csv").write_text("1,2,3")
