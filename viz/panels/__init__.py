"""The parts of each page, one folder a page."""
