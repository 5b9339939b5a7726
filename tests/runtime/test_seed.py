from __future__ import annotations

import random
import subprocess
import sys

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

from torch2ms.runtime import checkpoint, seed
from torch2ms.runtime.seed import Generator


@pytest.mark.slow
def test_draws_are_pytorchs(run_torch):
    theirs = run_torch("""
result = {}
for n in (0, 1, 2, 10, 5000):
    result[f"perm{n}"] = torch.randperm(n, generator=torch.Generator().manual_seed(42)).tolist()
g = torch.Generator().manual_seed(7)
result["mixed"] = [
    int(torch.empty((), dtype=torch.int64).random_(generator=g)), float(torch.rand(1, generator=g)),
    int(torch.randint(3, 9, (1,), generator=g)), float(torch.empty(1).uniform_(0.2, 3.0, generator=g)),
    int(torch.randint(0, 2**31, (1,), generator=g)),
]
result["large seed"] = torch.randperm(9, generator=torch.Generator().manual_seed(2**40 + 5)).tolist()
""")
    for count in (0, 1, 2, 10, 5000):
        assert Generator().manual_seed(42).randperm(count) == theirs[f"perm{count}"]
    stream = Generator().manual_seed(7)
    ours = [stream.long(), stream.rand(), stream.randint(3, 9), stream.uniform(0.2, 3.0), stream.randint(0, 2**31)]
    assert ours == theirs["mixed"]
    assert Generator().manual_seed(2**40 + 5).randperm(9) == theirs["large seed"]


def test_unseeded_generators_agree_and_seed_differs():
    assert Generator().raw(3) == Generator().raw(3)
    stream = Generator()
    assert stream.seed() == stream.initial_seed() != Generator().initial_seed()


def test_state_goes_back():
    stream = Generator().manual_seed(1)
    stream.raw(700)
    state = stream.get_state()
    first = stream.raw(1000)
    other = Generator()
    other.set_state(state)
    assert other.raw(1000) == first
    assert other.initial_seed() == 1


def test_randint_refuses_an_empty_range():
    with pytest.raises(ValueError, match="nothing between 3 and 3"):
        Generator().randint(3, 3)


def test_set_seed_seeds_all_streams():
    def draw():
        seed.set_seed(5)
        return random.random(), np.random.rand(), seed.default_generator().rand()

    assert draw() == draw()


def test_manual_seed_leaves_numpy_and_python_alone():
    random.seed(1)
    np.random.seed(1)
    expected = random.random(), np.random.rand()
    random.seed(1)
    np.random.seed(1)
    seed.manual_seed(99)
    assert (random.random(), np.random.rand()) == expected
    assert ms.get_seed() == 99


def test_there_is_a_seed_from_the_start():
    with seed.use_generator(seed.Generator()):
        assert seed.initial_seed() == seed.Generator().initial_seed()  # nothing has set one
    seed.manual_seed(99)
    assert seed.initial_seed() == 99


def test_default_generator_follows_mindspores_seed():
    ms.set_seed(11)
    first = seed.default_generator().rand()
    ms.set_seed(12)
    seed.default_generator()
    ms.set_seed(11)
    assert seed.default_generator().rand() == first == Generator().manual_seed(11).rand()


def test_use_generator_is_undone_after_an_error():
    outer = seed.default_generator()
    inner = Generator().manual_seed(3)

    def fail():
        with seed.use_generator(inner):
            assert seed.default_generator() is inner
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert seed.default_generator() is outer


def test_the_whole_state_survives_a_checkpoint(tmp_path):
    seed.set_seed(3)
    random.gauss(0, 1)
    np.random.randn()
    checkpoint.save(seed.get_rng_state(), tmp_path / "rng")
    expected = random.gauss(0, 1), np.random.randn(), seed.default_generator().raw(5)
    seed.set_seed(4)
    seed.set_rng_state(checkpoint.load(tmp_path / "rng"))
    assert (random.gauss(0, 1), np.random.randn(), seed.default_generator().raw(5)) == expected


def test_weights_follow_manual_seed_and_leave_numpy_alone():
    def weights():
        return nn.Dense(3, 4).weight.asnumpy(), nn.Conv2d(1, 2, 3).weight.asnumpy()

    np.random.seed(5)
    wanted = np.random.rand()
    np.random.seed(5)
    seed.manual_seed(7)
    first = weights()
    assert np.random.rand() == wanted
    seed.manual_seed(7)
    seed.default_generator().rand()  # nor do shuffles and weights change each other
    second = weights()
    assert all((one == other).all() for one, other in zip(first, second, strict=True))
    assert not (first[0] == weights()[0]).any()
    seed.manual_seed(8)
    assert not (first[0] == weights()[0]).any()


def test_equal_seeds_give_equal_weights_however_the_stream_was_seeded_before():
    """The first call of a process, before anything touched MindSpore's initializers, is like every later one."""
    script = (
        "from torch2ms.runtime import seed; from mindspore import nn\n"
        "def total():\n    return float(abs(nn.Dense(16, 10).weight.asnumpy()).sum())\n"
        "seed.set_seed(4); first = total(); seed.manual_seed(9); seed.set_seed(4); print(first == total())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]


def test_a_negative_seed_counts_from_the_end() -> None:
    generator = seed.Generator()
    generator.manual_seed(-2)
    assert generator.initial_seed() == 2**64 - 2
