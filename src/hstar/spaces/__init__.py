"""State spaces: planning tasks, their PDDL, and the translation between the two."""
