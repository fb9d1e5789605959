"""The parts of the page Inside a head."""
