"""What ``model_throughput`` times: an adapter and the bare loop of the same model, a file for each kind of model."""
