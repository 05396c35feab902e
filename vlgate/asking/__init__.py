"""Requests to predictions, in one chain to the model: deduplicate, order, cache, batch, watch.

``predictor.py`` begins it. Each step takes a call and its items, and asks the next one (``Step`` in ``batching.py``):
``dedupe.Arranged`` asks what is the same to the model once, in a hashed order; ``reply_cache.ReplyCache`` takes the
replies that are known; ``batching.in_batches`` cuts the rest; ``batching.watched`` makes one call within its time
limit. A model on a cluster has ``models.ray.pool.OverActors`` in place of the last two. ``request_prefetch.py`` asks
ahead of the tests, and ``checks/`` ask whether a model is the right way round, exact, and independent of the batch.

The room knows a model only by its protocol, changes no metric, and never tells a model the truths.
"""
