"""Data sets of the Hugging Face hub, fetched with the user's own token if a protocol needs them."""

from __future__ import annotations

from pathlib import Path

from vlgate.errors import DataError

_REMEDY = (
    "accept its terms on its page, log in with `hf auth login` or HF_TOKEN, unset HF_HUB_OFFLINE, "
    "or put the release into a data folder"
)


def dataset_folder(name: str, patterns: list[str]) -> Path:
    """Return the folder with the local copy of a data set; files that are not in the hub's cache are fetched first.

    Args:
        name: the data set's name, such as ``facebook/winoground``.
        patterns: glob patterns of the files that are needed.

    Raises: DataError, with the hub's own reason, if the data set cannot be fetched.
    """
    try:
        from huggingface_hub import snapshot_download

        return Path(str(snapshot_download(name, repo_type="dataset", allow_patterns=patterns)))
    except ModuleNotFoundError:
        raise DataError(name, None, "needs huggingface_hub", "pip install huggingface_hub") from None
    except OSError as error:  # the hub's errors: offline, gated, not found, no connection
        reason = str(error).strip().splitlines()
        raise DataError(
            name, None, f"cannot be fetched from the hub ({reason[0] if reason else error!r})", _REMEDY
        ) from None
