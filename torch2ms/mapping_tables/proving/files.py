"""Files of small datasets: what a path ends in says how its content is written."""

from __future__ import annotations

import bz2
import gzip
import os
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np


def write_files(folder: str, files: Mapping[str, Any]) -> None:
    """Write ``files`` below ``folder``: texts, bytes, arrays (``.npy``, else images), tables (``.mat``, else pickles).

    Texts are packed where the path ends in ``.gz`` or ``.bz2``.
    """
    for name, content in files.items():
        if isinstance(content, Mapping) and "__made__" in content:  # an image of the language of inputs
            content = content["value"]
        path = os.path.join(folder, *name.split("/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, np.ndarray) and not name.endswith(".npy"):
            from PIL import Image

            Image.fromarray(content).save(path)
        elif isinstance(content, np.ndarray):
            np.save(path, content)
        elif isinstance(content, Mapping) and name.endswith(".mat"):
            from scipy.io import savemat

            savemat(path, content)
        else:
            with open(path, "wb") as stream:
                stream.write(_bytes(name, content))


def _bytes(name: str, content: Any) -> bytes:
    if isinstance(content, Mapping):
        return pickle.dumps(content, protocol=2)
    if isinstance(content, bytes):
        return content
    raw: bytes = content.encode()
    if name.endswith(".gz"):
        return gzip.compress(raw)
    return bz2.compress(raw) if name.endswith(".bz2") else raw
