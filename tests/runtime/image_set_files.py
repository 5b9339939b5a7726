"""Tiny datasets in the real formats of their files: {class: {path below its root: content}}."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
from typing import Any

import numpy as np
from scipy.io import savemat
from scipy.sparse import csc_matrix

RANDOM = np.random.RandomState(3)


def picture(height: int = 4, width: int = 5, channels: int = 3) -> np.ndarray[Any, Any]:
    return RANDOM.randint(0, 256, (height, width, channels) if channels > 1 else (height, width)).astype(np.uint8)


def pictures(*names: str, **shape: int) -> dict[str, Any]:
    return {name: picture(**shape) for name in names}


def idx(array: np.ndarray[Any, Any], kind: int = 8) -> bytes:
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, kind, array.ndim]) + sizes + array.tobytes()


def digits(count: int) -> bytes:
    return idx(RANDOM.randint(0, 256, (count, 28, 28)).astype(np.uint8))


def labels(*values: int) -> bytes:
    return idx(np.array(values, np.uint8))


def mnist(name: str) -> dict[str, Any]:
    return {
        f"{name}/raw/train-images-idx3-ubyte": digits(3),
        f"{name}/raw/train-labels-idx1-ubyte": labels(7, 0, 9),
        f"{name}/raw/t10k-images-idx3-ubyte": digits(2),
        f"{name}/raw/t10k-labels-idx1-ubyte": labels(1, 2),
    }


def cifar(folder: str, files: dict[str, int], key: str, meta: str, meta_key: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        f"{folder}/{name}": {
            "data": RANDOM.randint(0, 256, (count, 3072)).astype(np.uint8),
            key: RANDOM.randint(0, 10, count).tolist(),
        }
        for name, count in files.items()
    }
    return {**found, f"{folder}/{meta}": {meta_key: [f"name {n}" for n in range(10)]}}


def tar(files: dict[str, bytes], mode: str = "w") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def png(array: np.ndarray[Any, Any]) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(array).save(stream, "png")
    return stream.getvalue()


def mat(content: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    savemat(stream, content)
    return stream.getvalue()


def devkit() -> bytes:
    kind = [(name, object) for name in ("id", "wnid", "words", "gloss", "children")]
    rows = [
        (1, "n001", "tench, Tinca tinca", "a fish", 0),
        (2, "n002", "goldfish", "a fish", 0),
        (3, "n900", "fish", "", 2),
    ]
    table = mat({"synsets": np.array(rows, kind).reshape(-1, 1)})
    base = "ILSVRC2012_devkit_t12/data"
    return tar({f"{base}/meta.mat": table, f"{base}/ILSVRC2012_validation_ground_truth.txt": b"2\n1\n2\n"}, "w:gz")


def boundaries() -> dict[str, Any]:
    edges = np.empty((20, 1), object)
    for number in range(20):
        edges[number, 0] = csc_matrix(np.eye(4, 5, number % 3, np.uint8))
    return {"GTcls": {"Segmentation": picture(4, 5, 1), "Boundaries": edges}}


VOC_XML = """<annotation><folder>VOC</folder><size><width>5</width><height>4</height></size><empty/>
<object><name>dog</name><bndbox><xmin>1</xmin></bndbox><part><name>head</name></part><part><name>foot</name></part>
</object><owner> someone </owner></annotation>"""
COCO = {
    "images": [{"id": 9, "file_name": "b.png"}, {"id": 4, "file_name": "a.png"}, {"id": 5, "file_name": "a.png"}],
    "categories": [{"id": 1, "name": "cat", "supercategory": "pet"}, {"id": 3, "name": "car", "supercategory": "t"}],
    "annotations": [
        {"id": 1, "image_id": 9, "category_id": 3, "area": 4.5, "iscrowd": 0, "bbox": [0, 1, 2, 3], "caption": "one"},
        {"id": 2, "image_id": 4, "category_id": 1, "area": 2.5, "iscrowd": 0, "bbox": [1, 1, 2, 2], "caption": "two"},
        {"id": 3, "image_id": 9, "category_id": 1, "area": 9.5, "iscrowd": 1, "bbox": [0, 0, 2, 3], "caption": "three"},
    ],
}
FLICKR_PAGE = """<html><a>outside/of/it</a><table><tr><td>
<a href="x">http://www.flickr.com/photos/9@N00/12/</a><ul><li>A dog . <li> Two cats . </ul></td>
<td>Image Not Found<ul><li>nothing .</ul></td><td><a>http://www.flickr.com/photos/8@N00/3/</a><ul><li>A bird .</ul>
</td></tr></table><li>after</html>"""
INATURALIST = [
    "00000_Animalia_Annelida_Clitellata_Haplotaxida_Lumbricidae_Lumbricus_terrestris",
    "00001_Animalia_Chordata_Aves_Piciformes_Picidae_Picus_viridis",
]
FACES = (
    "3--Riot/a.jpg\n2\n1 2 3 4 0 1 0 2 1 0 \n5 6 7 8 1 0 1 0 0 1 \n"
    "3--Riot/b.jpg\n0\n0 0 0 0 0 0 0 0 0 0 \n4--Dance/c.jpg\n1\n9 8 7 6 2 1 0 2 0 0 \n"
)
KITTI = (
    "Car 0.00 1 1.85 387.63 181.54 423.81 203.12 1.67 1.87 3.69 -16.53 2.39 58.49 1.57\n"
    "DontCare -1 -1 -10 1 2 3 4 -1 -1 -1 -1 -1 -1 -10\n"
)
ICML = "".join(f"{n},{u},{' '.join(['9'] * 2304)}\n" for n, u in enumerate(("Training", "PublicTest", "PrivateTest")))

FILES: dict[str, dict[str, Any]] = {
    "CIFAR10": cifar(
        "cifar-10-batches-py",
        {**{f"data_batch_{n}": 2 for n in range(1, 6)}, "test_batch": 3},
        "labels",
        "batches.meta",
        "label_names",
    ),
    "CIFAR100": cifar("cifar-100-python", {"train": 3, "test": 2}, "fine_labels", "meta", "fine_label_names"),
    "MNIST": mnist("MNIST"),
    "FashionMNIST": mnist("FashionMNIST"),
    "KMNIST": mnist("KMNIST"),
    "EMNIST": {
        f"EMNIST/raw/emnist-{split}-{part}-{kind}": content
        for split in ("letters", "balanced")
        for part in ("train", "test")
        for kind, content in (("images-idx3-ubyte", digits(2)), ("labels-idx1-ubyte", labels(4, 26)))
    },
    "QMNIST": {
        **{f"QMNIST/raw/qmnist-{part}-images-idx3-ubyte": digits(2) for part in ("train", "test")},
        **{
            f"QMNIST/raw/qmnist-{part}-labels-idx2-int": idx(RANDOM.randint(0, 9999, (2, 8)).astype(">i4"), 12)
            for part in ("train", "test")
        },
        "QMNIST/raw/xnist-images-idx3-ubyte": digits(2),
        "QMNIST/raw/xnist-labels-idx2-int": idx(np.arange(16).reshape(2, 8).astype(">i4"), 12),
        "QMNIST/raw/xnist-images-idx3-ubyte.xz": lzma.compress(b""),
    },
    "SVHN": {
        "train_32x32.mat": {"X": RANDOM.randint(0, 256, (32, 32, 3, 2)).astype(np.uint8), "y": np.array([[10], [3]])}
    },
    "STL10": {
        **{
            f"stl10_binary/{part}_X.bin": RANDOM.randint(0, 256, 2 * 3 * 96 * 96).astype(np.uint8).tobytes()
            for part in ("train", "test", "unlabeled")
        },
        "stl10_binary/train_y.bin": bytes([1, 10]),
        "stl10_binary/test_y.bin": bytes([7, 2]),
        "stl10_binary/fold_indices.txt": "1\n0 1\n",
        "stl10_binary/class_names.txt": "airplane\nbird\n",
    },
    "USPS": {
        "usps.bz2": "".join(
            f"{label} " + " ".join(f"{n + 1}:{v:.6f}" for n, v in enumerate(RANDOM.uniform(-1, 1, 256))) + " \n"
            for label in (1, 10)
        ),
        "usps.t.bz2": "3 " + " ".join(f"{n + 1}:-1" for n in range(256)) + "\n",
    },
    "SEMEION": {
        "semeion.data": "".join(
            " ".join(f"{v:.4f}" for v in RANDOM.randint(0, 2, 256)) + " " + " ".join(map(str, row)) + " \n"
            for row in np.eye(10, dtype=int)[[3, 9]]
        )
    },
    "FER2013": {
        "fer2013/train.csv": "emotion,pixels\n" + "".join(f"{n},{' '.join(['7'] * 2304)}\n" for n in (3, 0)),
        "fer2013/test.csv": "pixels\n" + " ".join(str(n % 256) for n in range(2304)) + "\n",
    },
    "FER2013icml": {
        "fer2013/icml_face_data.csv": "emotion, Usage, pixels\n" + ICML
    },
    "MovingMNIST": {
        "MovingMNIST/mnist_test_seq.npy": RANDOM.randint(0, 256, (20, 2, 64, 64)).astype(np.uint8)
    },
    "PhotoTour": {
        "liberty/patches0000.bmp": picture(128, 192, 1),
        "liberty/patches0001.bmp": picture(64, 128, 1),
        "liberty/info.txt": "".join(f"{n // 2} 0\n" for n in range(8)),
        "liberty/m50_100000_100000_0.txt": "0 0 0 1 0 0 0\n2 1 0 5 2 0 0\n",
    },
    "ImageFolder": pictures("cat/1.png", "cat/deep/0.PNG", "ant/3.jpg") | {"cat/notes.txt": "no image"},
    "EuroSAT": pictures("eurosat/2750/River/1.jpg", "eurosat/2750/Forest/1.jpg"),
    "Country211": pictures("country211/train/AD/1.jpg", "country211/train/AE/1.jpg", "country211/valid/AE/2.jpg"),
    "RenderedSST2": pictures(
        *(f"rendered-sst2/{part}/{name}/1.png" for part in ("train", "valid") for name in ("negative", "positive"))
    ),
    "Imagenette": pictures("imagenette2-160/val/n03888257/a.jpeg", "imagenette2-160/val/n01440764/b.jpeg")
    | {"imagenette2-160/val/n01440764/b.txt": ""},
    "ImageNet": {
        "ILSVRC2012_devkit_t12.tar.gz": devkit(),
        "ILSVRC2012_img_train.tar": tar(
            {f"n00{n}.tar": tar({f"n00{n}_{k}.JPEG": png(picture()) for k in range(2)}) for n in (2, 1)}
        ),
        "ILSVRC2012_img_val.tar": tar({f"ILSVRC2012_val_{n}.JPEG": png(picture()) for n in (3, 1, 2)}),
    },
    "GTSRB": pictures("gtsrb/GTSRB/Training/00001/a.ppm", "gtsrb/GTSRB/Training/00000/b.ppm")
    | pictures("gtsrb/GTSRB/Final_Test/Images/00000.ppm", "gtsrb/GTSRB/Final_Test/Images/00001.ppm")
    | {"gtsrb/GT-final_test.csv": "Filename;Width;ClassId\n00001.ppm;5;16\n00000.ppm;5;1\n"},
    "SUN397": pictures("SUN397/a/abbey/sun_aa.jpg", "SUN397/b/bar/indoor/sun_bb.jpg", "SUN397/a/abbey/other.jpg")
    | {"SUN397/ClassName.txt": "/a/abbey\n/b/bar/indoor\n"},
    "Omniglot": pictures(
        *(f"omniglot-py/images_background/{name}" for name in ("Greek/c1/1.png", "Greek/c2/1.png", "Latin/c1/2.png")),
        channels=1,
    )
    | {"omniglot-py/images_background.zip": b"", "omniglot-py/images_evaluation.zip": b""}
    | pictures("omniglot-py/images_evaluation/Tengwar/c1/7.png", channels=1),
    "Caltech101": pictures(
        *(f"caltech101/101_ObjectCategories/{name}/image_0001.jpg" for name in ("Faces", "ant", "BACKGROUND_Google")),
        "caltech101/101_ObjectCategories/ant/image_0002.jpg",
    )
    | {
        f"caltech101/Annotations/{name}.mat": {"obj_contour": RANDOM.rand(2, 3)}
        for name in ("Faces_2/annotation_0001", "ant/annotation_0001", "ant/annotation_0002")
    },
    "Caltech256": pictures(
        *(f"caltech256/256_ObjectCategories/{name}.jpg" for name in ("001.ak47/001_0001", "002.flag/002_0001"))
    )
    | {"caltech256/256_ObjectCategories/001.ak47/RENAME2": ""},
    "INaturalist": pictures(*(f"2021_train/{name}/{n}.jpg" for n, name in enumerate(INATURALIST)))
    | pictures("2017/Plantae/Ulmus/a.jpg", "2017/Aves/Picus/b.jpg", "2018/Aves/1/c.jpg", "2018/Plantae/0/d.jpg"),
    "DTD": pictures("dtd/dtd/images/woven/1.jpg", "dtd/dtd/images/banded/2.jpg")
    | {"dtd/dtd/labels/train1.txt": "woven/1.jpg\nbanded/2.jpg\n", "dtd/dtd/labels/val2.txt": "banded/2.jpg\n"},
    "Food101": pictures("food-101/images/pie/1.jpg", "food-101/images/pie/2.jpg", "food-101/images/eggs/3.jpg")
    | {
        "food-101/meta/train.json": '{"pie": ["pie/1", "pie/2"], "eggs": ["eggs/3"]}',
        "food-101/meta/test.json": '{"pie": ["pie/2"]}',
    },
    "CLEVRClassification": pictures(*(f"clevr/CLEVR_v1.0/images/{name}.png" for name in ("val/b", "val/a", "test/c")))
    | {
        "clevr/CLEVR_v1.0/scenes/CLEVR_val_scenes.json": json.dumps(
            {"scenes": [{"image_filename": f"{n}.png", "objects": [{}] * k} for n, k in (("a", 3), ("b", 10))]}
        )
    },
    "FGVCAircraft": pictures("fgvc-aircraft-2013b/data/images/1.jpg", "fgvc-aircraft-2013b/data/images/2.jpg")
    | {
        "fgvc-aircraft-2013b/data/variants.txt": "707-320\nA300 B4\n",
        "fgvc-aircraft-2013b/data/manufacturers.txt": "Airbus\nBoeing\n",
        "fgvc-aircraft-2013b/data/images_variant_trainval.txt": "2 A300 B4\n1 707-320\n",
        "fgvc-aircraft-2013b/data/images_manufacturer_test.txt": "1 Boeing\n",
    },
    "Flowers102": pictures(*(f"flowers-102/jpg/image_0000{n}.jpg" for n in (1, 2, 3)))
    | {
        "flowers-102/imagelabels.mat": {"labels": np.array([[77, 1, 102]])},
        "flowers-102/setid.mat": {
            "trnid": np.array([[3, 1]]), "valid": np.array([[2, 1]]), "tstid": np.array([[1, 3, 2]]),
        },
    },
    "StanfordCars": pictures("stanford_cars/cars_train/1.jpg", "stanford_cars/cars_train/2.jpg")
    | pictures("stanford_cars/cars_test/1.jpg", "stanford_cars/cars_test/2.jpg")
    | {
        f"stanford_cars/{name}": {
            "annotations": np.array(
                [(np.uint8(n), f"{n}.jpg") for n in (2, 1)], [("class", object), ("fname", object)]
            )
        }
        for name in ("devkit/cars_train_annos.mat", "cars_test_annos_withlabels.mat")
    }
    | {"stanford_cars/devkit/cars_meta.mat": {"class_names": np.array([["Acura", "BMW X5"]], object)}},
    "Places365": pictures("data_large_standard/a/abbey/1.jpg", "data_large_standard/b/bar/1.jpg", "test_256/1.jpg")
    | {
        "categories_places365.txt": "/b/bar 1\n/a/abbey 0\n",
        "places365_train_standard.txt": "/a/abbey/1.jpg 0\n/b/bar/1.jpg 1\n",
        "places365_test.txt": "1.jpg\n",
    },
    "LFWPeople": pictures(
        *(f"lfw-py/lfw_funneled/{name}.jpg" for name in ("Ann_Lee/Ann_Lee_0001", "Bo/Bo_0001", "Bo/Bo_0002"))
    )
    | {
        "lfw-py/lfw-funneled.tgz": b"",
        "lfw-py/lfw-names.txt": "Ann_Lee\t1\nBo\t2\n",
        "lfw-py/people.txt": "2\n1\nBo\t2\n1\nAnn_Lee\t1\n",
        "lfw-py/peopleDevTrain.txt": "1\nAnn_Lee\t1\n",
    },
    "LFWPairs": pictures(
        *(f"lfw-py/lfw_funneled/{name}.jpg" for name in ("Ann_Lee/Ann_Lee_0001", "Bo/Bo_0001", "Bo/Bo_0002"))
    )
    | {
        "lfw-py/lfw-funneled.tgz": b"",
        "lfw-py/pairs.txt": "2\t1\nBo\t1\t2\nBo\t1\tAnn_Lee\t1\nBo\t2\t1\nAnn_Lee\t1\tBo\t2\n",
        "lfw-py/pairsDevTest.txt": "1\nBo\t1\t2\nAnn_Lee\t1\tBo\t1\n",
    },
    "CelebA": pictures(*(f"celeba/img_align_celeba/00000{n}.jpg" for n in (1, 2, 3, 4)))
    | {
        "celeba/list_eval_partition.txt": "000001.jpg 0\n000002.jpg 1\n000003.jpg 0\n000004.jpg 1\n",
        "celeba/identity_CelebA.txt": "000001.jpg 2880\n000002.jpg 2937\n000003.jpg 8692\n000004.jpg 9\n",
        "celeba/list_bbox_celeba.txt": "4\nimage_id x_1 y_1 width height\n"
        + "".join(f"00000{n}.jpg    9{n}  71 226  31{n}\n" for n in (1, 2, 3, 4)),
        "celeba/list_landmarks_align_celeba.txt": "4\nlefteye_x lefteye_y nose_x nose_y\n"
        + "".join(f"00000{n}.jpg 6{n}  109  106  113\n" for n in (1, 2, 3, 4)),
        "celeba/list_attr_celeba.txt": "4\nSmiling Young Bald \n"
        + "".join(f"00000{n}.jpg -1  1 {'-1' if n == 2 else ' 1'}\n" for n in (1, 2, 3, 4)),
    },
    "VOC": pictures("VOCdevkit/VOC2012/JPEGImages/a.jpg", "TrainVal/VOCdevkit/VOC2011/JPEGImages/a.jpg")
    | pictures("VOCdevkit/VOC2012/SegmentationClass/a.png", "VOCdevkit/VOC2007/JPEGImages/b.jpg", channels=1)
    | {
        "VOCdevkit/VOC2012/ImageSets/Segmentation/train.txt": "a\n",
        "VOCdevkit/VOC2012/ImageSets/Main/trainval.txt": "a\n",
        "VOCdevkit/VOC2012/Annotations/a.xml": VOC_XML,
        "TrainVal/VOCdevkit/VOC2011/ImageSets/Main/val.txt": "a\n",
        "TrainVal/VOCdevkit/VOC2011/Annotations/a.xml": VOC_XML.replace("dog", "cat"),
        "VOCdevkit/VOC2007/ImageSets/Main/test.txt": "b\n",
        "VOCdevkit/VOC2007/Annotations/b.xml": "<annotation><name>none</name></annotation>",
    },
    "SBDataset": pictures("img/a.jpg", "img/b.jpg")
    | {"train.txt": "a\nb\n", "val.txt": "b\n", "cls/a.mat": boundaries(), "cls/b.mat": boundaries()},
    "WIDERFace": pictures("widerface/WIDER_train/images/3--Riot/a.jpg", "widerface/WIDER_train/images/3--Riot/b.jpg")
    | pictures("widerface/WIDER_train/images/4--Dance/c.jpg", "widerface/WIDER_test/images/0--P/d.jpg")
    | {
        "widerface/WIDER_val/x": "",
        "widerface/wider_face_split/wider_face_train_bbx_gt.txt": FACES,
        "widerface/wider_face_split/wider_face_test_filelist.txt": "0--P/d.jpg\n",
    },
    "Kitti": pictures(*(f"Kitti/raw/training/image_2/00000{n}.png" for n in (1, 2)), "Kitti/raw/testing/image_2/1.png")
    | {f"Kitti/raw/training/label_2/00000{n}.txt": KITTI for n in (1, 2)},
    "OxfordIIITPet": pictures("oxford-iiit-pet/images/Bengal_1.jpg", "oxford-iiit-pet/images/great_dane_12.jpg")
    | pictures(
        *(f"oxford-iiit-pet/annotations/trimaps/{name}.png" for name in ("Bengal_1", "great_dane_12")), channels=1
    )
    | {
        "oxford-iiit-pet/annotations/trainval.txt": "great_dane_12 2 2 1\nBengal_1 1 1 1\n",
        "oxford-iiit-pet/annotations/test.txt": "Bengal_1 1 1 1\n",
    },
    "Coco": pictures("a.png", "b.png") | {"ann.json": json.dumps(COCO)},
    "Flickr8k": pictures("12_ab.jpg", "3_cd.jpg") | {"page.html": FLICKR_PAGE},
    "Flickr30k": pictures("12.jpg", "3.jpg")
    | {"list.txt": "3.jpg#0\tA dog .\n12.jpg#0\tA cat .\n3.jpg#1\tTwo dogs .\n"},
    "SBU": pictures("dataset/1_o.jpg", "dataset/3_o.jpg")
    | {
        "SBUCaptionedPhotoDataset.tar.gz": b"",
        "dataset/SBU_captioned_photo_dataset_urls.txt": "http://x/1_o.jpg\nhttp://x/2_o.jpg\nhttp://x/3_o.jpg\n",
        "dataset/SBU_captioned_photo_dataset_captions.txt": "one \ntwo\nthree\n",
    },
    "Cityscapes": pictures("leftImg8bit/train/ulm/ulm_1_leftImg8bit.png", "leftImg8bit/train/bonn/b_leftImg8bit.png")
    | pictures(
        *(f"gtFine/train/{n}_gtFine_{k}Ids.png" for n in ("ulm/ulm_1", "bonn/b") for k in ("instance", "label")),
        channels=1,
    )
    | {f"gtFine/train/{n}_gtFine_polygons.json": '{"objects": [{"label": "sky"}]}' for n in ("ulm/ulm_1", "bonn/b")},
    "FakeData": {"none": ""},
}  # fmt: skip
