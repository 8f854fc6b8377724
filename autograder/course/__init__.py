"""What course there is: its exercises, their points, and the observations that are shipped."""
