"""The parts of the page Meaning."""
