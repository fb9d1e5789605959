"""What the page Masks is made of."""
