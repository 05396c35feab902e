"""The contests that ``model_throughput`` times: an adapter and a bare loop over one model; one file per kind."""
