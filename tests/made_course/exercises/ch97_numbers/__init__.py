"""An exercise whose cases hold no tensor, so that a process that has it ready has computed nothing with torch."""
