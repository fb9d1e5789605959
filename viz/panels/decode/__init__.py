"""The parts of the page Decode."""
