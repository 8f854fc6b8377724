# Tries to keep the class waiting with very many notebooks.
# share: 1


def hand_in(folder, honest, outside):
    (folder / f"{folder.name}.ipynb").write_bytes(honest)
    for number in range(200):
        (folder / f"copy ({number}).ipynb").write_bytes(honest)
