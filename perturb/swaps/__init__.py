"""Pairs of captions of the same words in another order, each true of one of two images, as in Winoground."""
