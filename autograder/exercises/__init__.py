"""What an answer shows: exercises and their requirements, probes, observations, differences, rules."""
