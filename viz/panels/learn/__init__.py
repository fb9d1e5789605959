"""The parts of the page Learn."""
