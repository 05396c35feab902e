"""The control ``look``: what the model knows without the image."""
