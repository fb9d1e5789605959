"""The rules of the house as functions: files' paths and texts in, sentences about what is wrong out."""
