"""Synthetic data in the on-disk formats that training scripts read: what a download would have left, only smaller.

Every maker writes below a folder, in a fixed order from a fixed seed, and makes classes that can be told apart, so that
a loss can fall. No maker needs PyTorch, torchvision or MindSpore.
"""

from __future__ import annotations

import pickle
import struct
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

__all__ = ["MAKERS", "make"]

SEED = 20240501
WORDS = "the a cat dog bird sees likes finds red small old house tree river and then sings sleeps runs home".split()


def _patterns(classes: int, shape: tuple[int, ...], seed: int = SEED) -> np.ndarray:
    """One smooth picture a class: uint8, shape (classes, *shape)."""
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 2, (classes, 4, 4, *shape[2:])) * 200
    return np.repeat(np.repeat(small, -(-shape[0] // 4), 1), -(-shape[1] // 4), 2)[:, : shape[0], : shape[1]]


def _images(count: int, classes: int, shape: tuple[int, ...], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pictures with their classes: uint8 of shape (count, *shape), and int64."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(count) % classes)
    noise = rng.integers(0, 56, (count, *shape))
    return (_patterns(classes, shape)[labels] + noise).astype(np.uint8), labels


def mnist(folder: Path, train: int = 1280, test: int = 256) -> None:
    """The four idx files of MNIST below ``folder/MNIST/raw``, and of FashionMNIST beside it."""
    for name in ("MNIST", "FashionMNIST"):
        raw = folder / name / "raw"
        raw.mkdir(parents=True, exist_ok=True)
        for prefix, count, seed in (("train", train, 1), ("t10k", test, 2)):
            pictures, labels = _images(count, 10, (28, 28), seed)
            head = struct.pack(">IIII", 2051, count, 28, 28)
            (raw / f"{prefix}-images-idx3-ubyte").write_bytes(head + pictures.tobytes())
            head = struct.pack(">II", 2049, count)
            (raw / f"{prefix}-labels-idx1-ubyte").write_bytes(head + labels.astype(np.uint8).tobytes())


def cifar10(folder: Path, train: int = 320, test: int = 100) -> None:
    """The Python version of CIFAR-10: six pickled batches and the names of the classes."""
    root = folder / "cifar-10-batches-py"
    root.mkdir(parents=True, exist_ok=True)
    parts = [(f"data_batch_{index}", train // 5, index) for index in range(1, 6)]
    for name, count, seed in [*parts, ("test_batch", test, 9)]:
        pictures, labels = _images(count, 10, (32, 32, 3), seed)
        entry = {"data": pictures.transpose(0, 3, 1, 2).reshape(count, -1), "labels": labels.tolist()}
        (root / name).write_bytes(pickle.dumps(entry, protocol=2))
    names = "airplane automobile bird cat deer dog frog horse ship truck".split()
    (root / "batches.meta").write_bytes(pickle.dumps({"label_names": names}, protocol=2))


def cifar100(folder: Path, train: int = 320, test: int = 100) -> None:
    """The Python version of CIFAR-100: train, test and meta, pickled."""
    root = folder / "cifar-100-python"
    root.mkdir(parents=True, exist_ok=True)
    for name, count, seed in (("train", train, 1), ("test", test, 2)):
        pictures, labels = _images(count, 100, (32, 32, 3), seed)
        entry = {
            "data": pictures.transpose(0, 3, 1, 2).reshape(count, -1),
            "fine_labels": labels.tolist(),
            "coarse_labels": (labels // 5).tolist(),
        }
        (root / name).write_bytes(pickle.dumps(entry, protocol=2))
    meta = {
        "fine_label_names": [f"class{i}" for i in range(100)],
        "coarse_label_names": [f"super{i}" for i in range(20)],
    }
    (root / "meta").write_bytes(pickle.dumps(meta, protocol=2))


def image_folder(folder: Path, count: int = 8, classes: int = 2, size: int = 64) -> None:
    """Pictures as ``folder/<class>/<number>.jpg``."""
    pictures, labels = _images(count * classes, classes, (size, size, 3), 3)
    for index, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
        place = folder / f"class{label}"
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(place / f"{index}.jpg")


def pictures(folder: Path, count: int = 8, size: int = 96) -> None:
    """Pictures as ``folder/<number>.jpg``."""
    folder.mkdir(parents=True, exist_ok=True)
    for index, picture in enumerate(_images(count, 4, (size, size, 3), 4)[0]):
        Image.fromarray(picture).save(folder / f"{index:03}.jpg")


def paired_pictures(folder: Path, count: int = 6, size: int = 128) -> None:
    """``folder/A`` and ``folder/B``: pictures of two domains, unpaired."""
    for name, seed in (("A", 5), ("B", 6)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for index, picture in enumerate(_images(count, 2, (size, size, 3), seed)[0]):
            Image.fromarray(picture).save(folder / name / f"{index:03}.jpg")


def segmentation(folder: Path, count: int = 12, size: int = 64) -> None:
    """``folder/imgs`` and ``folder/masks``: pictures, and the rectangles in them as masks of 0 and 1."""
    rng = np.random.default_rng(SEED)
    for name in ("imgs", "masks"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for index in range(count):
        mask = np.zeros((size, size), np.uint8)
        top, left = rng.integers(4, size // 2, 2)
        mask[top : top + size // 3, left : left + size // 3] = 1
        picture = rng.integers(0, 60, (size, size, 3)) + mask[..., None] * 150
        Image.fromarray(picture.astype(np.uint8)).save(folder / "imgs" / f"{index:03}.png")
        Image.fromarray(mask).save(folder / "masks" / f"{index:03}.png")


def _sentences(count: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        start = int(rng.integers(0, len(WORDS)))
        lines.append(" ".join(WORDS[(start + step) % len(WORDS)] for step in range(int(rng.integers(5, 12)))))
    return " \n".join(lines) + " \n"


def words(folder: Path, train: int = 400) -> None:
    """A corpus as train.txt, valid.txt and test.txt: sentences of few words, one a line."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, count, seed in (("train", train, 1), ("valid", 40, 2), ("test", 40, 3)):
        (folder / f"{name}.txt").write_text(_sentences(count, seed))


def text(path: Path, count: int = 1500) -> None:
    """One text file of sentences."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_sentences(count, 1) + "\nO God, O God!\n")  # what minGPT begins its samples with


def labelled_text(folder: Path, train: int = 768, test: int = 128, classes: int = 4) -> None:
    """``folder/data`` in the format of THUCNews: train, dev and test.txt of "text<TAB>class", and class.txt."""
    rng = np.random.default_rng(SEED)
    letters = [chr(0x4E00 + number) for number in range(10 * (classes + 1))]  # ten a class, and ten that all use
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    (folder / "saved_dict").mkdir(exist_ok=True)
    (data / "class.txt").write_text("\n".join(f"class{number}" for number in range(classes)))
    vocabulary = {letter: number for number, letter in enumerate([*letters, "<UNK>", "<PAD>"])}
    (data / "vocab.pkl").write_bytes(pickle.dumps(vocabulary))
    for name, count in (("train", train), ("dev", test), ("test", test)):
        lines = []
        for label in np.arange(count) % classes:
            own = rng.random(int(rng.integers(8, 30))) < 0.7
            places = np.where(own, label * 10, classes * 10) + rng.integers(0, 10, own.size)
            lines.append("".join(letters[place] for place in places) + f"\t{label}")
        (data / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def hours(path: Path, count: int = 20 * 30 * 24) -> None:
    """A table in the format of ETTh1.csv: a date and seven measurements, one hour a line."""
    rng = np.random.default_rng(SEED)
    times = np.arange(count)
    waves = [np.sin(2 * np.pi * times / 24 + column) + 0.3 * np.sin(2 * np.pi * times / 168) for column in range(7)]
    values = np.stack(waves, 1) + 0.1 * rng.standard_normal((count, 7))
    dates = np.datetime64("2016-07-01T00", "h") + times
    lines = ["date,HUFL,HULL,MUFL,MULL,LUFL,LULL,OT"]
    for date, row in zip(dates, values, strict=True):
        lines.append(f"{str(date).replace('T', ' ')}:00:00," + ",".join(f"{value:.4f}" for value in row))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def graphs(path: Path, count: int = 80) -> None:
    """Graphs with a class in the format of MUTAG.txt: rings, every other one with chords across."""
    rng = np.random.default_rng(SEED)
    lines = [str(count)]
    for number in range(count):
        size = int(rng.integers(8, 14))
        beside: list[set[int]] = [{(place - 1) % size, (place + 1) % size} for place in range(size)]
        for place in range(0, size, 3) if number % 2 else ():
            beside[place].add((place + size // 2) % size)
            beside[(place + size // 2) % size].add(place)
        lines.append(f"{size} {number % 2}")
        for near in beside:
            lines.append(" ".join(map(str, [int(rng.integers(0, 4)), len(near), *sorted(near)])))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def cora(folder: Path, nodes: int = 1600, features: int = 64) -> None:
    """A citation graph in the format of Cora: cora.content (id, words, class) and cora.cites (pairs of ids)."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    topics = rng.integers(0, 7, nodes)
    seen = rng.random((7, features)) < 0.25
    rows = []
    for node in range(nodes):
        has = (seen[topics[node]] & (rng.random(features) < 0.7)) | (rng.random(features) < 0.05)
        has[node % features] = True
        rows.append("\t".join([str(1000 + node), *(str(int(h)) for h in has), f"Topic_{topics[node]}"]))
    (folder / "cora.content").write_text("\n".join(rows) + "\n")
    edges = []
    for node in range(nodes):
        same = np.flatnonzero(topics == topics[node])
        edges += [f"{1000 + node}\t{1000 + int(other)}" for other in rng.choice(same, 2) if other != node]
    (folder / "cora.cites").write_text("\n".join(edges) + "\n")


_MIRROR = """# Answers with the local archive: what the script would download.
class get:
    def __init__(self, url, stream=False, **options):
        self.raw = open(url.rpartition("/")[2], "rb")
        self.content, self.status_code = b"", 200

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.raw.close()

    def raise_for_status(self):
        pass
"""


def cora_download(folder: Path, nodes: int = 1600, features: int = 64) -> None:
    """``cora.tgz``, and a module ``requests`` that hands it out, for a script that always downloads."""
    cora(folder / "cora", nodes, features)
    with tarfile.open(folder / "cora.tgz", "w:gz") as archive:
        archive.add(folder / "cora", "cora")
    (folder / "requests.py").write_text(_MIRROR)


def resnet18(path: Path) -> None:
    """Weights for a ResNet-18 "trained" by nobody, where converted ones are looked for."""
    from torch2ms.runtime import checkpoint, vision_models

    path.parent.mkdir(parents=True, exist_ok=True)
    checkpoint.save(checkpoint.weights_of(vision_models.resnet18()), path)


MAKERS: dict[str, Callable[..., None]] = {
    "mnist": mnist,
    "cifar10": cifar10,
    "cifar100": cifar100,
    "image_folder": image_folder,
    "pictures": pictures,
    "paired_pictures": paired_pictures,
    "segmentation": segmentation,
    "words": words,
    "text": text,
    "labelled_text": labelled_text,
    "hours": hours,
    "graphs": graphs,
    "cora": cora,
    "cora_download": cora_download,
    "resnet18": resnet18,
}


def make(folder: Path, kind: str, place: str, **sizes: int) -> None:
    """Make the data ``kind`` at ``place``, a path below ``folder``."""
    MAKERS[kind]((folder / place).resolve(), **sizes)
