"""What the page Learn is made of."""
