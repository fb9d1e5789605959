"""Searching for a translation, and running a finished one through the model."""
