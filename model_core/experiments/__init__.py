"""Questions to a model and its traces, each answered with numbers and tokens."""
