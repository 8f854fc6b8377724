"""The notebooks of the reports, as text: `report` runs them with the parameters of a class."""
