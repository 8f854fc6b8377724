"""Build the course as a site for reading: executed chapters with unsolved exercises, and the guides in docs/.

It uses Sphinx, and the chapters and the example class of `authoring`. Begin with `build_site.py`.
`jupyterlite.py` builds notebooks that run in a browser.
"""
