"""Perturbations: pure functions that make the other half of a case from a text, a scene graph or an image.

``text`` and ``foils`` rewrite sentences, ``questions`` and ``graphs`` ask about scene graphs, ``ontology`` knows names
and their hypernyms, ``images`` blurs, masks and crops. None reads a user's file or knows a case or a model; what does
not apply is None or a reason, never a guess.
"""
