"""Weights from the web, kept in PyTorch's own folder: who has a file there already needs no network.

The folder is ``$TORCH_HOME/hub``, else ``$XDG_CACHE_HOME/torch/hub``, else ``~/.cache/torch/hub``, as in PyTorch.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Dict, Optional, Union

from . import checkpoint

__all__ = ["DownloadError", "download_url_to_file", "get_dir", "get_home", "load_state_dict_from_url", "set_dir"]

PathLike = Union[str, "os.PathLike[str]"]

_HASH = re.compile(r"-([a-f0-9]+)\.")  # resnet50-19c8e357.pth
_PART = 1 << 20
_TIMEOUT = 60.0  # seconds without an answer
_chosen: Dict[str, str] = {}


class DownloadError(RuntimeError):
    """A file cannot be fetched, or is another one than its name says."""


def get_home() -> str:
    """Return PyTorch's own folder: ``$TORCH_HOME``, else ``torch`` in the folder of caches."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def get_dir() -> str:
    """Return the folder under which downloads are kept."""
    return _chosen.get("dir", os.path.join(get_home(), "hub"))


def set_dir(d: PathLike) -> None:
    """Keep downloads under another folder from now on."""
    _chosen["dir"] = os.path.expanduser(os.fspath(d))


def load_state_dict_from_url(
    url: str,
    model_dir: Optional[PathLike] = None,
    map_location: object = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: Optional[str] = None,
    weights_only: bool = False,
) -> Any:
    """Return what the file at ``url`` holds, which is fetched once: a state_dict that PyTorch saved, as a rule.

    ``check_hash`` compares the file with the digits in its name. ``map_location`` and ``progress`` are accepted and
    ignored. Raises DownloadError, naming the place where the file would be looked for.
    """
    folder = Path(model_dir) if model_dir is not None else Path(get_dir(), "checkpoints")
    name = file_name or os.path.basename(urllib.parse.urlparse(url).path)
    path = folder / name
    if not path.exists():
        found = _HASH.search(name) if check_hash else None
        folder.mkdir(parents=True, exist_ok=True)
        download_url_to_file(url, path, found.group(1) if found else None)
    return checkpoint.load(path, weights_only=weights_only)


def download_url_to_file(url: str, dst: PathLike, hash_prefix: Optional[str] = None, progress: bool = True) -> None:
    """Fetch ``url`` into the file ``dst``, which appears whole or not at all.

    ``hash_prefix`` is the start of its SHA-256 in hexadecimal digits. Raises DownloadError where the file cannot be
    fetched, or is another one.
    """
    target = Path(dst)
    handle, part = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        digest = hashlib.sha256()
        with os.fdopen(handle, "wb") as stream, urllib.request.urlopen(url, timeout=_TIMEOUT) as answer:
            for block in iter(lambda: answer.read(_PART), b""):
                digest.update(block)
                stream.write(block)
        if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
            raise DownloadError(f"{url} is another file than its name says: its SHA-256 is {digest.hexdigest()}")
        os.chmod(part, 0o644)
        os.replace(part, target)
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise DownloadError(f"{url} cannot be fetched ({error}): put the file at {target}") from error
    finally:
        if os.path.exists(part):
            os.unlink(part)
