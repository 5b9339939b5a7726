"""Harvest which members torch's objects share with the other objects that programs handle.

    python scripts/harvest_members.py torch2ms/mapping_tables

Writes ``shared_members.json`` into the folder: for each type (arrays, strings, containers, pictures, frames, plots)
the names it shares with torch's tensors, networks, optimizers and loaders, as ``m`` (methods) and ``a`` (attributes).
From these ``values/method_evidence.py`` derives which names tell what a receiver is. Run it where numpy, scipy, pandas,
matplotlib, h5py, Pillow, networkx, tqdm and gymnasium are installed; torch is not needed, its catalogue is read.
"""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path
from typing import Any

# Left out on purpose: streams, which share nothing with torch's objects but detach(), which programs do not call on
# them, and loggers, whose log() takes what no tensor's does.
OWNERS = (
    "torch.Tensor",
    "torch.nn.Module",
    "torch.optim.Optimizer",
    "torch.optim.lr_scheduler.LRScheduler",
    "torch.utils.data.DataLoader",
)
TYPES = """
numpy.ndarray numpy.generic numpy.random.RandomState numpy.random.Generator numpy.ma.MaskedArray numpy.dtype
builtins.str builtins.bytes builtins.bytearray builtins.list builtins.tuple builtins.dict builtins.set
builtins.frozenset builtins.int builtins.float builtins.complex builtins.range builtins.slice builtins.type
collections.deque collections.Counter collections.OrderedDict collections.defaultdict collections.ChainMap
pathlib.Path re.Pattern
argparse.ArgumentParser argparse.Namespace random.Random datetime.datetime datetime.timedelta
decimal.Decimal fractions.Fraction array.array queue.Queue threading.Thread threading.Event threading.Lock
multiprocessing.pool.Pool multiprocessing.Process subprocess.Popen configparser.ConfigParser
concurrent.futures.Executor concurrent.futures.Future zipfile.ZipFile csv.DictWriter sqlite3.Cursor string.Template
PIL.Image.Image PIL.ImageDraw.ImageDraw pandas.DataFrame pandas.Series pandas.Index
pandas.api.typing.DataFrameGroupBy pandas.api.typing.SeriesGroupBy
matplotlib.axes.Axes matplotlib.figure.Figure matplotlib.patches.Rectangle h5py.File h5py.Dataset
scipy.sparse.csr_matrix scipy.sparse.coo_matrix networkx.Graph networkx.DiGraph tqdm.tqdm
gymnasium.Env gymnasium.spaces.Box gymnasium.spaces.Discrete
""".split()


def resolve(name: str) -> type:
    """Return the type of a dotted name."""
    module, _, last = name.rpartition(".")
    found: type = getattr(importlib.import_module(module), last)
    return found


def harvest(folder: Path) -> dict[str, Any]:
    """Return the shared members of every type, by its name."""
    torch = json.loads(next(folder.glob("catalogues/torch-*.json")).read_text(encoding="utf-8"))["names"]
    wanted = {name.rpartition(".")[2] for name in torch if name.rpartition(".")[0] in OWNERS}
    found: dict[str, Any] = {}
    for name in TYPES:
        kind = resolve(name)
        shared = sorted(member for member in dir(kind) if member in wanted and not member.startswith("_"))
        methods = [member for member in shared if callable(getattr(kind, member, None))]
        attributes = [member for member in shared if member not in methods]
        if shared:
            found[name] = {key: names for key, names in (("m", methods), ("a", attributes)) if names}
    return found


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the folder of the mapping tables")
    folder = parser.parse_args().folder
    lines = [f"{json.dumps(name)}: {json.dumps(members)}" for name, members in harvest(folder).items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (folder / "shared_members.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
