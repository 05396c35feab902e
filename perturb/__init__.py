"""Perturbations: pure functions that change a text, a scene graph or an image."""
