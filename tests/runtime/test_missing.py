"""What stands for PyTorch where it is not installed can be written and not used."""

from __future__ import annotations

import pytest

from torch2ms.runtime import missing

torch = missing.torch


def test_it_can_stand_in_tables_bases_and_type_tests() -> None:
    table = {"a": torch.nn.NoSuchLayer, torch.strange: 1}

    class Function(torch.autograd.Function):
        pass

    assert len(table) == 2
    assert not isinstance(1, (torch.fx.Proxy, Function))
    assert torch.jit.Final[int] is not None


@pytest.mark.parametrize(
    "use",
    [
        lambda: torch.nn.NoSuchLayer(3),
        lambda: bool(torch.backends.fast.enabled),
        lambda: torch.strided == torch.sparse_coo,
        lambda: type("Own", (torch.autograd.Function,), {})(),
    ],
)
def test_using_it_raises(use: object) -> None:
    with pytest.raises(NotImplementedError, match="torch"):
        use()  # type: ignore[operator]
