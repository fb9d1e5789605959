"""The command line: `regard`, or `python -m model_core`."""
