"""nbgrader's side: the class recorded in its gradebook, collected, exported."""
