"""Models that answer questions about images from pixels, and the lists of answers that they choose from."""
