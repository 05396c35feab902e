"""Models that raise."""

import warnings
import zlib

import eyes


def _raising(make, often=1):
    calls = []

    def match(pairs):
        calls.append(1)
        if len(calls) % often == 0:
            raise make()
        return eyes.fits(pairs)

    return eyes.with_match(match)


def an_exception():
    """Raises ValueError."""
    return _raising(lambda: ValueError("no"))


def now_and_then():
    """Raises ValueError at every third call."""
    return _raising(lambda: ValueError("not now"), often=3)


def one_image():
    """Raises ValueError if one of some images is among those of a call."""

    def match(pairs):
        if any(zlib.crc32(pair.image.load().tobytes()) % 8 == 0 for pair in pairs):
            raise ValueError("what is this?")
        return eyes.fits(pairs)

    return eyes.with_match(match)


def mute():
    """Raises an exception whose text cannot be made."""
    return _raising(type("Mute", (ValueError,), {"__str__": lambda self: 1 / 0, "__repr__": lambda self: 1 / 0}))


def half_a_letter():
    """Raises an exception whose text is not valid Unicode."""
    return _raising(lambda: ValueError("half of \ud800 a pair"))


def a_long_text():
    """Raises an exception whose text has ten thousand lines."""
    return _raising(lambda: ValueError("line\n" * 10_000))


def base_exception():
    """Raises BaseException."""
    return _raising(lambda: BaseException("out"))


def generator_exit():
    """Raises GeneratorExit."""
    return _raising(GeneratorExit)


def stop_iteration():
    """Raises StopIteration."""
    return _raising(StopIteration)


def system_exit():
    """Raises SystemExit(0)."""
    return _raising(lambda: SystemExit(0))


def keyboard_interrupt():
    """Raises KeyboardInterrupt."""
    return _raising(KeyboardInterrupt)


def _of_pytest(name, *args, **named):
    def match(pairs):
        import pytest

        getattr(pytest, name)(*args, **named)

    return eyes.with_match(match)


def skip():
    """Calls pytest.skip()."""
    return _of_pytest("skip", "not today")


def xfail():
    """Calls pytest.xfail()."""
    return _of_pytest("xfail", "known")


def exit_of_pytest():
    """Calls pytest.exit() with status 0."""
    return _of_pytest("exit", "done", returncode=0)


def skip_at_build():
    """Calls pytest.skip() while it is built."""
    import pytest

    pytest.skip("no GPU")


def recursion():
    """Calls itself without end."""

    def match(pairs):
        return match(pairs)

    return eyes.with_match(match)


def memory():
    """Runs out of memory at every call."""
    return _raising(lambda: MemoryError("out of memory"))


def a_warning():
    """Warns, and returns no scores."""

    def match(pairs):
        warnings.warn("no weights were loaded", stacklevel=2)

    return eyes.with_match(match)


def at_build():
    """Cannot be built."""
    raise OSError("no weights here")


def no_methods():
    """Is an object without any method."""
    return object()


def a_class():
    """Is a class, of which no instance was made."""

    class Model:
        def match(self, pairs):
            return eyes.fits(pairs)

    return Model


def exception_groups():
    """Raises a group of exceptions that holds SystemExit."""
    return _raising(lambda: BaseExceptionGroup("several", [SystemExit(0), ValueError("no")]))
