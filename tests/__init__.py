"""The tests. A package, so that no installed package called `tests` is taken for it."""
