from __future__ import annotations

import mindspore as ms
import numpy as np
import pytest
from mindspore.dataset import vision
from PIL import Image, ImageEnhance

from torch2ms.runtime import seed, transforms
from torch2ms.runtime.transforms import functional

PIXELS = np.random.RandomState(0).randint(0, 256, (40, 52, 3)).astype(np.uint8)


@pytest.fixture
def image():
    return Image.fromarray(PIXELS)


def pixels(image):
    return np.asarray(image)


def test_to_tensor(image):
    tensor = transforms.ToTensor()(image)
    assert isinstance(tensor, ms.Tensor)
    assert tensor.shape == (3, 40, 52)
    np.testing.assert_array_equal(tensor.asnumpy(), PIXELS.transpose(2, 0, 1).astype(np.float32) / np.float32(255))
    assert transforms.ToTensor()(image.convert("L")).shape == (1, 40, 52)
    assert transforms.ToTensor()(PIXELS.astype(np.float32)).asnumpy().max() > 200
    black_white = transforms.ToTensor()(image.convert("1")).asnumpy()
    assert set(np.unique(black_white)) == {0.0, 1.0}


def test_back_to_a_picture(image):
    tensor = transforms.ToTensor()(image)
    assert np.abs(pixels(transforms.ToPILImage()(tensor)).astype(int) - PIXELS).max() <= 1
    assert transforms.ToPILImage()(PIXELS).size == (52, 40)
    assert transforms.ToPILImage()(tensor[0:1]).mode == "L"


def test_normalize(image):
    tensor = transforms.ToTensor()(image)
    mean, std = [0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010]
    expected = (tensor.asnumpy() - np.float32(mean).reshape(3, 1, 1)) / np.float32(std).reshape(3, 1, 1)
    np.testing.assert_array_equal(transforms.Normalize(mean, std)(tensor).asnumpy(), expected)
    assert isinstance(transforms.Normalize([0.5], [0.5])(tensor.asnumpy()), np.ndarray)
    with pytest.raises(TypeError, match="ToTensor"):
        transforms.Normalize(mean, std)(image)
    with pytest.raises(ValueError, match="holds a 0"):
        transforms.Normalize(mean, [0, 1, 1])(tensor)


@pytest.mark.parametrize("size", [20, 60, (30, 24), [33]])
def test_resize_is_mindspores_on_pil(image, size):
    ours = transforms.Resize(size)(image)
    target = size if not isinstance(size, list) else size[0]
    np.testing.assert_array_equal(pixels(ours), pixels(vision.Resize(target, vision.Inter.BILINEAR)(image)))


def test_resize_sizes(image):
    assert transforms.Resize(20)(image).size == (26, 20)
    assert transforms.Resize(20)(image.transpose(Image.ROTATE_90)).size == (20, 26)
    assert transforms.Resize(39, max_size=50)(image).size == (50, 39)
    assert transforms.Resize(39, max_size=45)(image).size == (45, 35)
    assert transforms.Resize((40, 52))(image) is image
    tensor = transforms.ToTensor()(image)
    resized = transforms.Resize((20, 26))(tensor).asnumpy()
    picture = transforms.ToTensor()(transforms.Resize((20, 26))(image)).asnumpy()
    assert np.abs(resized - picture).max() <= 1.01 / 255  # Pillow rounds pixels twice


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_resize_of_tensors_is_torchs_antialiased_one(run_torch, mode):
    array = np.random.RandomState(1).rand(2, 12, 16).astype(np.float32)
    theirs = run_torch(f"""
x = torch.tensor(np.random.RandomState(1).rand(2, 12, 16).astype(np.float32))[None]
result = torch.nn.functional.interpolate(x, (7, 20), mode="{mode}", antialias=True, align_corners=False)[0].tolist()
""")
    ours = transforms.Resize((7, 20), transforms.InterpolationMode(mode))(ms.Tensor(array)).asnumpy()
    np.testing.assert_allclose(ours, np.array(theirs), atol=2e-6)


def test_crops_and_pads_are_mindspores(image):
    np.testing.assert_array_equal(pixels(transforms.CenterCrop(24)(image)), pixels(vision.CenterCrop(24)(image)))
    np.testing.assert_array_equal(pixels(transforms.Pad(3)(image)), np.pad(PIXELS, [(3, 3), (3, 3), (0, 0)]))
    wide = pixels(transforms.Pad((1, 2), fill=(1, 2, 3))(image))
    assert wide.shape == (44, 54, 3)
    assert wide[0, 0].tolist() == [1, 2, 3]
    for mode in ("edge", "reflect", "symmetric"):
        expected = np.pad(PIXELS, [(2, 4), (1, 3), (0, 0)], mode=mode)
        np.testing.assert_array_equal(pixels(transforms.Pad([1, 2, 3, 4], padding_mode=mode)(image)), expected)
    larger = pixels(transforms.CenterCrop((44, 60))(image))
    assert larger.shape == (44, 60, 3)
    np.testing.assert_array_equal(larger[2:42, 4:56], PIXELS)


def test_crops_of_tensors(image):
    tensor = transforms.ToTensor()(image)
    np.testing.assert_array_equal(
        transforms.CenterCrop(24)(tensor).asnumpy(), transforms.ToTensor()(transforms.CenterCrop(24)(image)).asnumpy()
    )
    assert functional.crop(tensor, -2, -3, 50, 60).shape == (3, 50, 60)


def test_flips(image):
    np.testing.assert_array_equal(pixels(transforms.RandomHorizontalFlip(1.0)(image)), PIXELS[:, ::-1])
    np.testing.assert_array_equal(pixels(transforms.RandomVerticalFlip(1.0)(image)), PIXELS[::-1])
    assert transforms.RandomHorizontalFlip(0.0)(image) is image
    tensor = transforms.ToTensor()(image)
    np.testing.assert_array_equal(functional.hflip(tensor).asnumpy(), tensor.asnumpy()[..., ::-1])


def test_grey(image):
    np.testing.assert_array_equal(pixels(transforms.Grayscale()(image)), pixels(image.convert("L")))
    assert transforms.Grayscale(3)(image).mode == "RGB"
    assert transforms.RandomGrayscale(1.0)(image).mode == "RGB"
    assert transforms.Grayscale()(transforms.ToTensor()(image)).shape == (1, 40, 52)


def test_colours(image):
    for change, enhancer in (
        (functional.adjust_brightness, ImageEnhance.Brightness),
        (functional.adjust_contrast, ImageEnhance.Contrast),
        (functional.adjust_saturation, ImageEnhance.Color),
    ):
        np.testing.assert_array_equal(pixels(change(image, 1.3)), pixels(enhancer(image).enhance(1.3)))
    hue, saturation, value = image.convert("HSV").split()
    # the shift is cut off towards zero and wraps around: -0.1 * 255 is -25
    shifted = (np.asarray(hue).astype(int) - 25) % 256
    expected = Image.merge("HSV", (Image.fromarray(shifted.astype(np.uint8)), saturation, value)).convert("RGB")
    np.testing.assert_array_equal(pixels(functional.adjust_hue(image, -0.1)), pixels(expected))
    with pytest.raises(TypeError, match="in front of ToTensor"):
        functional.adjust_brightness(transforms.ToTensor()(image), 1.0)


def test_rotation_of_right_angles(image):
    np.testing.assert_array_equal(
        pixels(functional.rotate(image, 90, expand=True)), pixels(image.transpose(Image.ROTATE_90))
    )
    assert transforms.RandomRotation(10)(image).size == image.size


@pytest.mark.slow
def test_random_draws_are_torchvisions(run_torch, image):
    """The draws of torchvision's get_params, restated with torch's generator."""
    theirs = run_torch("""
import math
def uniform(low, high): return float(torch.empty(1).uniform_(low, high))
def integer(high): return int(torch.randint(0, high, (1,)))
torch.manual_seed(21)
result = {"crop": [(integer(48 - 32 + 1), integer(60 - 32 + 1)) for _ in range(3)]}
result["flip"] = [bool(torch.rand(1) < 0.5) for _ in range(20)]
windows = []
log_ratio = torch.log(torch.tensor((3 / 4, 4 / 3)))
for _ in range(5):
    for _ in range(10):
        area = 40 * 52 * uniform(0.08, 1.0)
        aspect = float(torch.exp(torch.empty(1).uniform_(log_ratio[0], log_ratio[1])))
        w, h = int(round(math.sqrt(area * aspect))), int(round(math.sqrt(area / aspect)))
        if 0 < w <= 52 and 0 < h <= 40:
            windows.append((integer(40 - h + 1), integer(52 - w + 1), h, w))
            break
    else:
        windows.append(None)
result["windows"] = windows
result["jitter"] = [torch.randperm(4).tolist(), uniform(0.6, 1.4), uniform(0.5, 1.5)]
result["angle"] = uniform(-10.0, 10.0)
""")
    seed.set_seed(21)
    drawn = []
    crop = transforms.RandomCrop(32, padding=4)
    for top, left in theirs["crop"]:
        padded = np.pad(PIXELS, [(4, 4), (4, 4), (0, 0)])
        np.testing.assert_array_equal(pixels(crop(image)), padded[top : top + 32, left : left + 32])
    for flipped in theirs["flip"]:
        drawn.append(np.array_equal(pixels(transforms.RandomHorizontalFlip()(image)), PIXELS[:, ::-1]) == flipped)
    assert all(drawn)
    sized = transforms.RandomResizedCrop(24)
    assert [list(sized.window(52, 40)) for _ in range(5)] == theirs["windows"]
    order, brightness, contrast = theirs["jitter"]
    expected = image
    for index in order:
        if index == 0:
            expected = functional.adjust_brightness(expected, brightness)
        elif index == 1:
            expected = functional.adjust_contrast(expected, contrast)
    jittered = transforms.ColorJitter(brightness=0.4, contrast=0.5)(image)
    np.testing.assert_array_equal(pixels(jittered), pixels(expected))
    rotated = transforms.RandomRotation(10)(image)
    np.testing.assert_array_equal(pixels(rotated), pixels(functional.rotate(image, theirs["angle"])))


def test_erasing():
    seed.set_seed(2)
    tensor = ms.Tensor(np.ones((3, 20, 20), np.float32))
    erased = transforms.RandomErasing(p=1.0, value=0)(tensor).asnumpy()
    share = 1 - erased.mean()
    assert 0.015 < share < 0.35
    assert tensor.asnumpy().min() == 1
    noise = transforms.RandomErasing(p=1.0, value="random")(tensor)
    assert isinstance(noise, ms.Tensor)
    assert len(np.unique(noise.asnumpy())) > 10
    assert transforms.RandomErasing(p=0.0)(tensor) is tensor


def test_combinations(image):
    marked = []
    steps = [lambda x: marked.append(1) or x, lambda x: marked.append(2) or x]
    transforms.RandomApply(steps, p=1.0)(image)
    transforms.RandomOrder(steps)(image)
    assert marked[:2] == [1, 2]
    assert sorted(marked[2:]) == [1, 2]
    assert transforms.RandomChoice([lambda x: 1, lambda x: 2], p=[0.0, 1.0])(image) == 2
    assert transforms.Compose([transforms.Lambda(lambda x: x + 1), lambda x: x * 2])(1) == 4


def test_random_crop_refuses_small_images(image):
    with pytest.raises(ValueError, match="does not fit"):
        transforms.RandomCrop(60)(image)
    assert transforms.RandomCrop(60, pad_if_needed=True)(image).size == (60, 60)


def test_build_from_a_configuration(image):
    known = {kind.__name__: kind for kind in (transforms.RandomHorizontalFlip, transforms.Resize, transforms.ToTensor)}
    specs = ["RandomHorizontalFlip", {"Resize": {"size": ["image_size", 20]}}, "ToTensor"]
    built = transforms.build(specs, known, image_size=30)
    assert [type(transform).__name__ for transform in built.transforms] == [
        "RandomHorizontalFlip",
        "Resize",
        "ToTensor",
    ]
    assert built(image).shape == (3, 30, 20)
    with pytest.raises(ValueError, match="unknown transform 'Nothing': choose one of RandomHorizontalFlip, Resize"):
        transforms.build(["Nothing"], known)
