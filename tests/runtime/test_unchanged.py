"""The stand-in of a decorator of PyTorch's compiler that is handed on as a value."""

from torch2ms.runtime.unchanged import unchanged


def test_what_it_decorates_stays_as_it_is() -> None:
    def double(x: int) -> int:
        return 2 * x

    assert unchanged(double) is double
    assert unchanged(double, drop=True) is double
    assert unchanged(int) is int


def test_options_alone_make_a_decorator() -> None:
    @unchanged(drop=False)
    def double(x: int) -> int:
        return 2 * x

    assert double(3) == 6
