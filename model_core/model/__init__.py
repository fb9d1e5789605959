"""The Transformer. To be read in the order of the paper: positions, masks, attention, layers, transformer.

`points` names the places at which a model can be watched or changed, `cache` keeps keys and values between steps.
"""
