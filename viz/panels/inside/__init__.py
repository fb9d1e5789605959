"""What the page Inside a head is made of."""
