"""What the page Positions is made of."""
