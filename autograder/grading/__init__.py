"""What teachers need: reading submissions, running them, grading a class, nbgrader's plug-ins."""
