"""The curves of accuracy over the severities of image perturbations, and the page about them."""
