"""Text, pieces, tokens and words."""
