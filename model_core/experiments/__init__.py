"""What can be asked of a model and its traces: each answers with numbers and tokens."""
