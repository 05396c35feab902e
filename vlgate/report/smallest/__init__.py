"""The smallest changes that break the model, as the page shows them."""
