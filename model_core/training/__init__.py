"""Training: tasks, batches, the loop, evaluation, and trainings that are watched while they run."""
