"""nbgrader's configuration: this folder is the course root.

Run nbgrader's commands here, or `make grade` in the project folder.
"""

from pathlib import Path

from autograder.authoring.starters import release_preprocessors

c = get_config()  # noqa: F821  (nbgrader puts it here)

# --- the course

c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.course_id = "pytorch_basics"
# nbgrader copies every other file of an assignment's folder to the students: no code and no dotfile.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", "*.py", ".*"]

# --- from source to release

# What is in release/ is made from source/ and nothing else, so it can be made again.
c.GenerateAssignment.force = True
c.GenerateAssignment.preprocessors = release_preprocessors()

# --- autograding

# Submissions are read and repaired by us, whatever they are called and whatever happened to their cells, ...
c.Autograde.exporter_class = "autograder.grading.gradebook.SubmissionExporter"
c.Autograde.pre_convert_hook = "autograder.grading.gradebook.name_as_released"
# ... and graded by us where nbgrader would execute them; its gradebook, penalties and feedback are nbgrader's own.
c.Autograde.autograde_preprocessors = [
    "autograder.grading.gradebook.GradeSubmission",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
# Students read what the checks found, not the hidden cell.
c.GenerateFeedback.preprocessors = [
    "autograder.grading.gradebook.HideTests",
    "nbgrader.preprocessors.GetGrades",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]
