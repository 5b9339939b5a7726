from __future__ import annotations

import gzip
import pickle

import mindspore.dataset as ds
import numpy as np
import pytest
from PIL import Image

from torch2ms.runtime import datasets, synthetic
from torch2ms.runtime.datasets import CIFAR10, CIFAR100, MNIST, STL10, SVHN, DatasetNotFoundError, FashionMNIST


def write_idx(path, array):
    header = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
    content = header + array.astype(np.uint8).tobytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


@pytest.mark.parametrize("write", [synthetic.write_cifar10_python, synthetic.write_cifar10_binary])
def test_cifar10_in_both_formats(tmp_path, write):
    folder = write(tmp_path, train_images=50, test_images=20)
    train, test = CIFAR10(tmp_path), CIFAR10(str(tmp_path), train=False, transform=np.asarray, target_transform=str)
    images, labels = synthetic.draw_images(50)
    np.testing.assert_array_equal(train.data, images)
    assert train.targets == labels.tolist()
    assert (len(train), len(test)) == (50, 20)
    image, label = train[3]
    assert isinstance(image, Image.Image)
    np.testing.assert_array_equal(np.asarray(image), images[3])
    assert label == labels[3]
    assert isinstance(label, int)
    assert test[0][0].shape == (32, 32, 3)
    assert test[0][1] == str(test.targets[0])
    assert train.class_to_idx["truck"] == 9
    np.testing.assert_array_equal(CIFAR10(folder).data, images)


def test_a_folder_below_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    synthetic.write_cifar10_python(tmp_path / "data", train_images=50, test_images=20)
    assert len(CIFAR10("~/data")) == 50


def test_a_class_of_a_program_names_other_files(tmp_path):
    class Hundred(CIFAR10):  # as long-tailed versions of CIFAR-100 are written
        base_folder = "cifar-100-python"
        train_list = [["train", "16019d7e3df5f24257cddd939b257f8d"]]  # noqa: RUF012
        test_list = [["test", ""]]  # noqa: RUF012
        meta = {"filename": "meta", "key": "fine_label_names", "md5": ""}  # noqa: RUF012

        def __init__(self, root, train=True):
            self.root = str(root)
            self.download()
            super().__init__(root, train)

    synthetic.write_cifar10_python(tmp_path, train_images=50, test_images=20)
    with pytest.raises(DatasetNotFoundError, match="cifar-100-python"):
        Hundred(tmp_path)
    folder = tmp_path / "cifar-100-python"
    folder.mkdir()
    rows = {b"data": np.zeros((3, 3072), np.uint8), b"fine_labels": [99, 5, 7], b"coarse_labels": [0, 1, 2]}
    for name in ("train", "test"):
        (folder / name).write_bytes(pickle.dumps(rows))
    (folder / "meta").write_bytes(pickle.dumps({"fine_label_names": ["apple", "bear"]}))
    assert Hundred(tmp_path).targets == [99, 5, 7]
    assert Hundred(tmp_path, train=False).classes == ["apple", "bear"]


def test_cifar10_binary_is_what_mindspore_reads(tmp_path):
    folder = synthetic.write_cifar10_binary(tmp_path, train_images=50000, test_images=10)
    theirs = next(ds.Cifar10Dataset(str(folder), usage="train", shuffle=False).create_dict_iterator(output_numpy=True))
    image, label = CIFAR10(tmp_path)[0]
    np.testing.assert_array_equal(np.asarray(image), theirs["image"])
    assert label == theirs["label"]


def test_cifar100_takes_the_fine_labels(tmp_path):
    folder = tmp_path / "cifar-100-python"
    folder.mkdir()
    for name, count in (("train", 6), ("test", 3)):
        content = {b"data": np.zeros((count, 3072), np.uint8), b"fine_labels": list(range(count)), b"coarse_labels": []}
        (folder / name).write_bytes(pickle.dumps(content, protocol=2))
    assert CIFAR100(tmp_path).targets == [0, 1, 2, 3, 4, 5]
    assert len(CIFAR100(tmp_path, train=False)) == 3


class Evil:
    def __reduce__(self):
        return print, ("executed",)


def test_pickles_cannot_run_code(tmp_path, capsys):
    folder = synthetic.write_cifar10_python(tmp_path, 10, 10)
    (folder / "data_batch_1").write_bytes(pickle.dumps({"data": Evil(), "labels": []}))
    with pytest.raises(DatasetNotFoundError, match="has no place in a dataset file"):
        CIFAR10(tmp_path)
    assert "executed" not in capsys.readouterr().out


def test_damaged_files_are_named(tmp_path):
    folder = synthetic.write_cifar10_python(tmp_path / "py", 10, 10)
    (folder / "data_batch_2").write_bytes(b"\x80\x02}q\x00")
    with pytest.raises(DatasetNotFoundError, match="data_batch_2 is damaged"):
        CIFAR10(tmp_path / "py")
    folder = synthetic.write_cifar10_binary(tmp_path / "bin", 10, 10)
    (folder / "data_batch_3.bin").write_bytes(b"12345")
    with pytest.raises(DatasetNotFoundError, match=r"data_batch_3.bin is damaged"):
        CIFAR10(tmp_path / "bin")


@pytest.mark.parametrize("kind", [CIFAR10, CIFAR100, MNIST, FashionMNIST])
def test_missing_files_are_named_and_nothing_is_downloaded(tmp_path, kind):
    with pytest.raises(DatasetNotFoundError) as error:
        kind(tmp_path / "nowhere", download=True)
    wanted = {
        CIFAR10: "cifar-10-batches-py/data_batch_1",
        CIFAR100: "cifar-100-python/train",
        MNIST: "MNIST/raw/train-images-idx3-ubyte",
        FashionMNIST: "FashionMNIST/raw/train-images-idx3-ubyte",
    }
    assert wanted[kind] in str(error.value)
    assert "not downloaded" in str(error.value)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("kind", [MNIST, FashionMNIST])
def test_mnist(tmp_path, kind, suffix):
    raw = tmp_path / kind.__name__ / "raw"
    images = np.arange(2 * 28 * 28).reshape(2, 28, 28) % 256
    write_idx(raw / f"train-images-idx3-ubyte{suffix}", images)
    write_idx(raw / f"train-labels-idx1-ubyte{suffix}", np.array([7, 2]))
    dataset = kind(tmp_path)
    image, label = dataset[1]
    assert (image.mode, image.size, label) == ("L", (28, 28), 2)
    np.testing.assert_array_equal(np.asarray(image), images[1])
    assert len(dataset) == 2


def test_cut_off_idx_files(tmp_path):
    raw = tmp_path / "MNIST" / "raw"
    write_idx(raw / "train-images-idx3-ubyte", np.zeros((2, 28, 28)))
    path = raw / "train-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(DatasetNotFoundError, match="cut off: 1565 bytes of 1568"):
        MNIST(tmp_path)


def test_image_folder(tmp_path):
    for name, colour in (("cat", (255, 0, 0)), ("ant", (0, 255, 0))):
        for number in range(2):
            path = tmp_path / name / "deep" / f"{number}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (4, 5), colour).save(path)
    (tmp_path / "cat" / "notes.txt").write_text("no image", encoding="utf-8")
    dataset = datasets.ImageFolder(tmp_path)
    assert dataset.classes == ["ant", "cat"]
    assert dataset.class_to_idx == {"ant": 0, "cat": 1}
    assert dataset.targets == [0, 0, 1, 1]
    image, label = dataset[3]
    assert (image.size, image.getpixel((0, 0)), label) == ((4, 5), (255, 0, 0), 1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="classes empty"):
        datasets.ImageFolder(tmp_path)
    assert len(datasets.ImageFolder(tmp_path, allow_empty=True)) == 4


def test_fake_data_is_the_same_each_time():
    dataset = datasets.FakeData(size=3, image_size=(3, 8, 6), num_classes=4)
    first, second = dataset[1], dataset[1]
    np.testing.assert_array_equal(np.asarray(first[0]), np.asarray(second[0]))
    assert first[0].size == (6, 8)
    assert 0 <= first[1] < 4
    with pytest.raises(IndexError):
        dataset[3]


def test_synthetic_train_and_test_differ_and_classes_are_even():
    train, test = synthetic.SyntheticImages(100), synthetic.SyntheticImages(100, train=False)
    assert (len(train), len(test)) == (100, 25)
    assert not np.array_equal(train.data[:25], test.data)
    assert np.bincount(train.targets).tolist() == [10] * 10
    assert synthetic.SyntheticImages(10, channels=1)[0][0].mode == "L"


def test_svhn_reads_matlab_files_and_calls_ten_zero(tmp_path):
    savemat = pytest.importorskip("scipy.io").savemat
    pixels = np.random.default_rng(0).integers(0, 256, (32, 32, 3, 4)).astype(np.uint8)  # N is last in the file
    savemat(str(tmp_path / "test_32x32.mat"), {"X": pixels, "y": np.array([[10], [1], [9], [10]], np.uint8)})
    data = SVHN(tmp_path, split="test")
    assert data.labels.tolist() == [0, 1, 9, 0]
    assert data.data.shape == (4, 3, 32, 32)
    image, label = data[1]
    np.testing.assert_array_equal(np.asarray(image), pixels[:, :, :, 1])
    assert (label, len(data)) == (1, 4)
    assert SVHN(str(tmp_path), "test", transform=np.asarray, target_transform=str)[2][1] == "9"
    with pytest.raises(DatasetNotFoundError, match=r"train_32x32\.mat"):
        SVHN(tmp_path)
    with pytest.raises(ValueError, match="argument split"):
        SVHN(tmp_path, split="validation")


def test_stl10_reads_its_binary_files_columns_first(tmp_path):
    folder = tmp_path / "stl10_binary"
    folder.mkdir()
    generator = np.random.default_rng(0)
    stored = {name: generator.integers(0, 256, (count, 3, 96, 96)).astype(np.uint8) for name, count in
              (("train", 5), ("test", 2), ("unlabeled", 3))}  # fmt: skip
    for name, images in stored.items():
        images.tofile(folder / f"{name}_X.bin")
    np.array([1, 2, 3, 4, 10], np.uint8).tofile(folder / "train_y.bin")
    np.array([7, 8], np.uint8).tofile(folder / "test_y.bin")
    (folder / "fold_indices.txt").write_text("4 0 \n1 2 \n")
    (folder / "class_names.txt").write_text("airplane\nbird\n")
    train = STL10(tmp_path)
    image, label = train[4]
    np.testing.assert_array_equal(np.asarray(image), stored["train"][4].transpose(2, 1, 0))
    assert (label, train.classes, train[0][1]) == (9, ["airplane", "bird"], 0)
    assert STL10(tmp_path, folds=0).labels.tolist() == [9, 0]
    assert STL10(tmp_path, split="test").labels.tolist() == [6, 7]
    assert STL10(tmp_path, split="train+unlabeled").labels.tolist() == [0, 1, 2, 3, 9, -1, -1, -1]
    (folder / "test_y.bin").unlink()
    with pytest.raises(DatasetNotFoundError, match=r"stl10_binary/test_y\.bin"):
        STL10(tmp_path, split="test")
