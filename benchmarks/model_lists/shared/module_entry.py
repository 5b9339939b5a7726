"""Builds what a file of the source defines, wherever in the tree the file stands, on both sides alike."""

import importlib
import os
import sys


def build(file, name, arguments=(), **settings):
    """Build ``name`` of ``file``: imported as a file beside others is, or as part of its package when that fails."""
    root = os.path.dirname(os.path.abspath(__file__))
    folder, base = os.path.split(os.path.join(root, file))
    sys.path[:0] = [folder, root]
    own = set(sys.modules)
    try:
        module = importlib.import_module(base[: -len(".py")])
        if os.path.abspath(module.__file__) != os.path.join(root, file):
            raise ImportError(file)
    except ImportError:
        module = importlib.import_module(file[: -len(".py")].replace("/", "."))
    finally:
        del sys.path[:2]
    built = getattr(module, name)(*arguments, **settings)
    for key in set(sys.modules) - own:  # files of the same name in other folders are to be found next time
        if str(getattr(sys.modules[key], "__file__", "") or "").startswith(root):
            del sys.modules[key]
    return built
