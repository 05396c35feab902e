"""Scene graphs, and the tasks that are generated from them."""
