"""The command line: `python -m model_core`."""
