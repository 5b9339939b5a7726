"""Calls of datasets on the files of ``image_set_files``, and what is compared of each."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

# Expressions of D (the module of datasets), R (the folder of the files named first), T, S and B (transforms)
CASES: list[tuple[str, str]] = [
    ("CIFAR10", "D.CIFAR10(R)"),
    ("CIFAR10", "D.CIFAR10(R, train=False, transform=T, target_transform=S, download=True)"),
    ("CIFAR100", "D.CIFAR100(R, False)"),
    *((name, f"D.{name}(R)") for name in ("MNIST", "FashionMNIST", "KMNIST")),
    *((name, f"D.{name}(R, train=False, transform=T, download=True)") for name in ("MNIST", "FashionMNIST", "KMNIST")),
    ("EMNIST", "D.EMNIST(R, 'letters')"),
    ("EMNIST", "D.EMNIST(R, split='balanced', train=False, target_transform=S)"),
    ("QMNIST", "D.QMNIST(R)"),
    ("QMNIST", "D.QMNIST(R, compat=False, train=False)"),
    ("QMNIST", "D.QMNIST(R, 'test10k', target_transform=S)"),
    ("QMNIST", "D.QMNIST(R, what='test50k')"),
    ("QMNIST", "D.QMNIST(R, what='nist', compat=False)"),
    ("SVHN", "D.SVHN(R, target_transform=S)"),
    *(("STL10", f"D.STL10(R, {given})") for given in ("", "folds=0", "'test'", "'train+unlabeled'", "'unlabeled'")),
    ("USPS", "D.USPS(R, transform=T)"),
    ("USPS", "D.USPS(R, False)"),
    ("SEMEION", "D.SEMEION(R)"),
    ("FER2013", "D.FER2013(R)"),
    ("FER2013", "D.FER2013(R, 'test')"),
    ("FER2013icml", "D.FER2013(R, 'train')"),
    ("FER2013icml", "D.FER2013(R, split='test')"),
    *(("MovingMNIST", f"D.MovingMNIST(R, {given})") for given in ("", "'train'", "split='test', split_ratio=15")),
    ("PhotoTour", "D.PhotoTour(R, 'liberty')"),
    ("PhotoTour", "D.PhotoTour(R, 'liberty', train=False)"),
    ("ImageFolder", "D.ImageFolder(R, T)"),
    ("ImageFolder", "D.ImageFolder(R, is_valid_file=lambda path: path.endswith(('g', 'G')), allow_empty=True)"),
    ("ImageFolder", "D.DatasetFolder(R, str, ('png',), allow_empty=True)"),
    ("EuroSAT", "D.EuroSAT(R, T, S)"),
    ("Country211", "D.Country211(R)"),
    ("Country211", "D.Country211(R, 'valid')"),
    ("RenderedSST2", "D.RenderedSST2(R)"),
    ("RenderedSST2", "D.RenderedSST2(R, split='val', download=True)"),
    ("Imagenette", "D.Imagenette(R, 'val', '160px', transform=T)"),
    ("ImageNet", "D.ImageNet(R)"),
    ("ImageNet", "D.ImageNet(R, split='val', transform=T)"),
    ("GTSRB", "D.GTSRB(R)"),
    ("GTSRB", "D.GTSRB(R, 'test', T)"),
    ("SUN397", "D.SUN397(R)"),
    ("Omniglot", "D.Omniglot(R)"),
    ("Omniglot", "D.Omniglot(R, background=False, transform=T, download=True)"),
    ("Caltech101", "D.Caltech101(R)"),
    ("Caltech101", "D.Caltech101(R, ['category', 'annotation'])"),
    ("Caltech101", "D.Caltech101(R, target_type='annotation', target_transform=T)"),
    ("Caltech256", "D.Caltech256(R)"),
    ("INaturalist", "D.INaturalist(R)"),
    ("INaturalist", "D.INaturalist(R, target_type=['full', 'phylum', 'genus'])"),
    ("INaturalist", "D.INaturalist(R, '2017', 'super')"),
    ("INaturalist", "D.INaturalist(R, '2018', ['full', 'super'])"),
    ("DTD", "D.DTD(R)"),
    ("DTD", "D.DTD(R, 'val', 2, T)"),
    ("Food101", "D.Food101(R)"),
    ("Food101", "D.Food101(R, 'test', transform=T, target_transform=S)"),
    ("CLEVRClassification", "D.CLEVRClassification(R, 'val')"),
    ("CLEVRClassification", "D.CLEVRClassification(R, split='test')"),
    ("FGVCAircraft", "D.FGVCAircraft(R)"),
    ("FGVCAircraft", "D.FGVCAircraft(R, 'test', 'manufacturer')"),
    *(("Flowers102", f"D.Flowers102(R, split={split!r})") for split in ("train", "val", "test")),
    ("StanfordCars", "D.StanfordCars(R)"),
    ("StanfordCars", "D.StanfordCars(R, 'test', T)"),
    ("Places365", "D.Places365(R)"),
    ("Places365", "D.Places365(R, 'test', small=True)"),
    ("LFWPeople", "D.LFWPeople(R)"),
    ("LFWPeople", "D.LFWPeople(R, split='train')"),
    ("LFWPairs", "D.LFWPairs(R)"),
    ("LFWPairs", "D.LFWPairs(R, 'test', transform=T, target_transform=S)"),
    ("CelebA", "D.CelebA(R)"),
    ("CelebA", "D.CelebA(R, 'all', target_type=['attr', 'identity', 'bbox', 'landmarks'])"),
    ("CelebA", "D.CelebA(R, split='valid', target_type='identity', transform=T, target_transform=S)"),
    ("CelebA", "D.CelebA(R, target_type=[])"),
    ("VOC", "D.VOCSegmentation(R)"),
    ("VOC", "D.VOCSegmentation(R, transforms=B)"),
    ("VOC", "D.VOCDetection(R, '2012', 'trainval')"),
    ("VOC", "D.VOCDetection(R, year='2011', image_set='val', transform=T)"),
    ("VOC", "D.VOCDetection(R, '2007', 'test')"),
    ("SBDataset", "D.SBDataset(R)"),
    ("SBDataset", "D.SBDataset(R, 'val', mode='segmentation')"),
    ("WIDERFace", "D.WIDERFace(R)"),
    ("WIDERFace", "D.WIDERFace(R, 'test')"),
    ("Kitti", "D.Kitti(R)"),
    ("Kitti", "D.Kitti(R, train=False)"),
    ("OxfordIIITPet", "D.OxfordIIITPet(R)"),
    ("OxfordIIITPet", "D.OxfordIIITPet(R, 'test', target_types=['category', 'binary-category', 'segmentation'])"),
    ("OxfordIIITPet", "D.OxfordIIITPet(R, target_types=[], transform=T)"),
    ("Coco", "D.CocoDetection(R, R + '/ann.json')"),
    ("Coco", "D.CocoCaptions(R, annFile=R + '/ann.json', transform=T, target_transform=S)"),
    ("Flickr8k", "D.Flickr8k(R, R + '/page.html')"),
    ("Flickr30k", "D.Flickr30k(R, R + '/list.txt', T)"),
    ("SBU", "D.SBU(R)"),
    ("Cityscapes", "D.Cityscapes(R)"),
    ("Cityscapes", "D.Cityscapes(R, target_type=['semantic', 'polygon'], transform=T)"),
    ("FakeData", "D.FakeData(3, (3, 5, 7), 10)"),
    ("FakeData", "D.FakeData(size=2, image_size=(1, 3, 4), random_offset=5, transform=T)"),
]

# What else than items is compared, where a dataset has it
ATTRIBUTES = """
    annotation_categories attr attr_names all_categories bbox bin_class_to_idx bin_classes captions categories
    categories_index categories_map class_to_idx classes data extensions fold folds identity ids image_set images
    images_dir imgs index labels landmarks_align masks matches mean mode pair_names photos root samples size split
    split_ratio std target_type targets train wnid_to_idx wnids year y _bin_labels _image_files _labels _samples
""".split()


class Cut:
    """A transform with a text of two lines."""

    def __call__(self, image: Any) -> Any:
        return np.asarray(image)[:2]

    def __repr__(self) -> str:
        return "Cut(\n    2)"


class Told(Cut):
    """A transform of targets."""

    def __call__(self, target: Any) -> Any:
        return f"{target.item() if hasattr(target, 'item') else target}"


class Both(Cut):
    """A transform of image and target."""

    def __call__(self, image: Any, target: Any) -> Any:
        return target, image


def plain(value: Any) -> Any:
    """Return a value as plain data, of either framework."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    if type(value).__module__.startswith("PIL."):
        return ("image", value.mode, value.size, np.asarray(value).tolist())
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if hasattr(value, "asnumpy") or type(value).__module__ == "torch":
        array = value.asnumpy() if hasattr(value, "asnumpy") else value.numpy()
        return ("tensor", str(array.dtype), array.shape, array.tolist())
    if isinstance(value, np.ndarray | np.generic):
        return ("array", str(value.dtype), value.shape, value.tolist())
    return str(value)


def described(dataset: Any) -> dict[str, Any]:
    """Return what a dataset tells and gives."""
    items = [plain(dataset[index]) for index in range(len(dataset))]
    found = {name: plain(getattr(dataset, name)) for name in ATTRIBUTES if hasattr(dataset, name)}
    if "attr" in found:  # CelebA has a list of names where others name an archive
        found["filename"] = dataset.filename
    return {"items": items, "text": repr(dataset), "attributes": found}


def described_cases(module: Any, folder: str) -> bytes:
    """Return what each case gives, or the error, as a pickle."""
    answers = []
    for name, case in CASES:
        try:
            answers.append(
                described(eval(case, {"D": module, "R": f"{folder}/{name}", "T": Cut(), "S": Told(), "B": Both()}))
            )
        except Exception as error:
            answers.append({"error": repr(error)})
    return pickle.dumps(answers)
