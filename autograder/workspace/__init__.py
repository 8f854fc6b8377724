"""Set up a place to work: a reader's own copies of the notebooks, and JupyterLab for reading or for teaching.

Begin with `working_copies.py` and `jupyterlab.py`, which the command `lab` uses. `embed_package_in_notebook.py` makes
notebooks that need no installation. The folders `student` and `teacher` hold the settings of JupyterLab.
"""
