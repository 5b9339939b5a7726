"""What programs write datasets of their own with: checked arguments, checksums, downloads, archives, lists of files."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
from pathlib import Path
from typing import Any, Iterable, List, Optional, Union

from ..hub import download_url_to_file
from .base import PathLike, choose, unpack

__all__ = [
    "calculate_md5",
    "check_integrity",
    "check_md5",
    "download_and_extract_archive",
    "download_url",
    "extract_archive",
    "list_dir",
    "list_files",
    "verify_str_arg",
]


def verify_str_arg(
    value: Any,
    arg: Optional[str] = None,
    valid_values: Optional[Iterable[str]] = None,
    custom_msg: Optional[str] = None,
) -> Any:
    """Return ``value``, which must be a text, and one of ``valid_values``: ValueError otherwise."""
    if custom_msg is not None and isinstance(value, str) and valid_values is not None and value not in valid_values:
        raise ValueError(custom_msg)
    return choose(value, str(arg), [value] if valid_values is None else valid_values)


def calculate_md5(fpath: PathLike, chunk_size: int = 1024 * 1024) -> str:
    """Return the MD5 of a file, in hexadecimal digits."""
    digest = hashlib.md5(usedforsecurity=False)
    with open(fpath, "rb") as stream:
        for block in iter(lambda: stream.read(chunk_size), b""):
            digest.update(block)
    return digest.hexdigest()


def check_md5(fpath: PathLike, md5: str, **kwargs: Any) -> bool:
    """Whether a file has this MD5."""
    return calculate_md5(fpath, **kwargs) == md5


def check_integrity(fpath: PathLike, md5: Optional[str] = None) -> bool:
    """Whether there is such a file, with this MD5 if one is given."""
    return os.path.isfile(fpath) and (md5 is None or check_md5(fpath, md5))


def download_url(
    url: str,
    root: PathLike,
    filename: Optional[PathLike] = None,
    md5: Optional[str] = None,
    max_redirect_hops: int = 3,
) -> None:
    """Fetch ``url`` into the folder ``root``, unless the file is there.

    Raises RuntimeError where it has another MD5. As many redirections are followed as Python's urllib follows.
    """
    path = Path(os.path.expanduser(root), filename or os.path.basename(url))
    path.parent.mkdir(parents=True, exist_ok=True)
    if not check_integrity(path, md5):
        download_url_to_file(url, path)
        if not check_integrity(path, md5):
            raise RuntimeError("File not found or corrupted.")


def extract_archive(
    from_path: PathLike, to_path: Optional[PathLike] = None, remove_finished: bool = False
) -> Union[str, Path]:
    """Unpack a tar or zip file, or one packed file, into ``to_path`` or where it lies; return where it is."""
    source = Path(from_path)
    opened: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(source.suffix)
    target = source.parent if to_path is None else Path(to_path)
    if opened is None or source.with_suffix("").suffix == ".tar":
        unpack(source, target)
    else:
        target = source.with_suffix("") if to_path is None else target
        with opened(source, "rb") as stream:
            target.write_bytes(stream.read())
    if remove_finished:
        source.unlink()
    return target if isinstance(from_path, Path) else str(target)


def download_and_extract_archive(
    url: str,
    download_root: PathLike,
    extract_root: Optional[PathLike] = None,
    filename: Optional[PathLike] = None,
    md5: Optional[str] = None,
    remove_finished: bool = False,
) -> None:
    """Fetch an archive, unless it is there, and unpack it."""
    folder = os.path.expanduser(download_root)
    filename = filename or os.path.basename(url)
    download_url(url, folder, filename, md5)
    extract_archive(os.path.join(folder, filename), extract_root or folder, remove_finished)


def list_dir(root: PathLike, prefix: bool = False) -> List[str]:
    """Return the folders in a folder, with its path if ``prefix``."""
    root = os.path.expanduser(root)
    names = [name for name in os.listdir(root) if os.path.isdir(os.path.join(root, name))]
    return [os.path.join(root, name) for name in names] if prefix else names


def list_files(root: PathLike, suffix: Any, prefix: bool = False) -> List[str]:
    """Return the files in a folder whose names end in ``suffix``, with its path if ``prefix``."""
    root = os.path.expanduser(root)
    names = [name for name in os.listdir(root) if name.endswith(suffix) and os.path.isfile(os.path.join(root, name))]
    return [os.path.join(root, name) for name in names] if prefix else names
