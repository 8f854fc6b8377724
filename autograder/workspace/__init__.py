"""A reader's desk: copies of the notebooks to work in, and JupyterLab set out for reading, or for teaching."""
