"""Models that have nothing but the answer key of the gate."""

import gc

import eyes


def prepared():
    """Has a method prepare(), as training has, and remembers the truths if it is given some."""

    class Model:
        def __init__(self):
            self.truths = {}

        def prepare(self, tasks):
            self.truths = _truths(case for task in tasks for case in task.cases)

        def match(self, pairs):
            return [float(self.truths.get((pair.image.key, pair.text), 0)) for pair in pairs]

    return Model()


def collected():
    """Looks through all objects of the process for something with the attribute truths."""

    def match(pairs):
        found = [
            object_ for object_ in gc.get_objects() if type(object_).__name__ == "Case" and hasattr(object_, "truths")
        ]
        truths = _truths(found)
        return [float(truths.get((pair.image.key, pair.text), 0)) for pair in pairs]

    return eyes.with_match(match)


def _truths(cases):
    return {
        (request.image.key, getattr(request, "text", "")): truth is True
        for case in cases
        for request, truth in zip(case.requests, case.truths, strict=True)
    }
