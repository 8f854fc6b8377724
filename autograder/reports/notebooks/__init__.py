"""The notebooks behind the report pages, in percent format: `write_reports.py` executes them for a class."""
