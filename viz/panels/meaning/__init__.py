"""What the page Meaning is made of."""
