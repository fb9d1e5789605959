"""What the page Decode is made of."""
