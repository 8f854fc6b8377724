"""The course as a site for reading: executed chapters with exercises unsolved, and the guides, made by Sphinx."""
