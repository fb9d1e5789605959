"""The Transformer, to be read in the order of the paper: positions, masks, attention, layers, transformer."""
