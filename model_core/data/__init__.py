"""Sentence pairs and homographs, from files."""
