"""Region features as records, and a cache of them."""
