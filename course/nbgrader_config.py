"""nbgrader's configuration: this folder is the course root.

Run nbgrader's commands here, or `make grade` in the project folder. Settings of your own go into teacher.toml, beside
this file: git leaves it alone.
"""

from pathlib import Path

from traitlets.config import Config

from autograder.nbgrader_plugin.insert_starters import release_preprocessors
from autograder.nbgrader_plugin.teacher_settings import nbgrader_settings

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
c.Autograde.exporter_class = "autograder.nbgrader_plugin.autograde.RepairingExporter"
c.Autograde.pre_convert_hook = "autograder.nbgrader_plugin.autograde.copy_to_released_name"
# ... and graded by us where nbgrader would execute them; its gradebook, penalties and feedback are nbgrader's own.
# What we give nbgrader is made from the released notebook, so most of its own repairs have nothing to do, and
# everything is done while it reads a submission. What stands in autograde_preprocessors is done after that.
c.Autograde.sanitize_preprocessors = [
    "autograder.nbgrader_plugin.autograde.RestoreHiddenTests",
    "autograder.nbgrader_plugin.autograde.WriteVerdict",
    "autograder.nbgrader_plugin.save_grades.SaveGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
]
c.Autograde.autograde_preprocessors = []
c.Autograde.post_convert_hook = "autograder.nbgrader_plugin.autograde.note_recorded"
# Due dates, extensions and what lateness costs: `autograder due`. A plug-in of yours can stand here.
c.AssignLatePenalties.plugin_class = "autograder.nbgrader_plugin.apply_deadlines.LatePenalty"
# Students read what the checks found, not the hidden cell; the exercises stand on the first screen.
c.GenerateFeedback.exporter_class = "autograder.nbgrader_plugin.feedback_page.FeedbackExporter"
c.GenerateFeedback.preprocessors = [
    "autograder.nbgrader_plugin.hide_tests_in_feedback.HideTests",
    "autograder.nbgrader_plugin.feedback_page.ScorePreprocessor",
    "autograder.nbgrader_plugin.feedback_page.SummaryPreprocessor",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
]

# --- what comes in and goes out

# Links in the exchange are not followed, and a student's name is no formula.
c.ExchangeFactory.collect = "autograder.nbgrader_plugin.collect_without_symlinks.CollectWithoutSymlinks"
c.ExportApp.plugin_class = "autograder.nbgrader_plugin.export_plugins.PlainGrades"

# --- a teacher's own

c.merge(Config(nbgrader_settings(Path(__file__).resolve().parent)))
