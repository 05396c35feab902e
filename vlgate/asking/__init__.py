"""From requests to predictions: batches, adapters and prefetching."""
