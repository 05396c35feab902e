"""How a run asks its model: on which machine, in what batches, and what it remembers of the replies."""
