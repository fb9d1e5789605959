"""The parts of the page Attend."""
