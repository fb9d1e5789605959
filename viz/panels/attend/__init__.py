"""What the page Attend is made of."""
