"""Confinement: what a process that runs students' code can see, reach and use up."""
