"""Who is in the class, and what goes to the school's own system: rosters in, grades out."""
