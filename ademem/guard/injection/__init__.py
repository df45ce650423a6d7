"""Detection of texts that order a model to do something."""
