"""Build the course as a site for reading: executed chapters with unsolved exercises, and the guides in docs/.

It uses Sphinx, and the chapters and the example class of `authoring`. Begin with `build_site.py`, which gathers the
pages. `chapter_page.py` makes a chapter's page from the notebook that `executed_chapters.py` runs;
`fill_page_placeholders.py` fills values from the course into pages, and `example_report.py` shows a report on the
example class. `jupyterlite.py` builds notebooks that run in a browser.
"""
