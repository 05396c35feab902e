"""Checks of the model itself: is it the right way round, does it depend on the batch, does precision matter."""
