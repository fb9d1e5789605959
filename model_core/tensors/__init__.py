"""Small tools for tensors that the model and its training are made with."""
