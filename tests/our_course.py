"""This project's own course."""

from autograder.course.course import course_in
from tests.small_chapter import PROJECT

COURSE = course_in(PROJECT / "course")
