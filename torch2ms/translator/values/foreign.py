"""Foreign values: what functions, methods and attributes of packages other than torch give, where that is certain."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torch2ms.mapping_tables.counterparts import place_of
from torch2ms.translator.values.builtin_calls import made_dict
from torch2ms.translator.values.containers import element_of
from torch2ms.translator.values.dtypes import COMPLEX
from torch2ms.translator.values.kinds import UNKNOWN, Kind, computed_of

__all__ = [
    "OF_TENSORS",
    "OF_TENSORS_AND_MORE",
    "gives_array",
    "of_arithmetic",
    "of_attribute",
    "of_function",
    "of_item",
    "of_method",
]

_SETTINGS = "argparse.Namespace"


_SPARSE = "scipy.sparse"
_MATRIX = Kind("python", _SPARSE, evidence="a sparse matrix of scipy")
# Functions of scipy.sparse that make a matrix, beside its classes, ``coo_matrix`` and ``csr_array``.
_MATRICES = frozenset(
    "eye identity diags spdiags block_diag hstack vstack bmat kron tril triu random rand load_npz".split()
)
_GRAPHS = frozenset({"networkx.adjacency_matrix", "networkx.laplacian_matrix", "networkx.to_scipy_sparse_array"})
_SPARSE_METHODS = frozenset(
    """tocoo tocsr tocsc tolil todok todia tobsr transpose copy power astype multiply maximum minimum conj sqrt log1p
    expm1 sign""".split()
)
_DENSE_METHODS = frozenset("toarray todense sum mean diagonal".split())
_SPARSE_ARRAYS = frozenset("data row col indices indptr offsets".split())


_FRAME = Kind("python", "pandas.DataFrame", evidence="a frame of pandas")
_COLUMN = Kind("python", "pandas.Series", evidence="a column of a frame of pandas")
# Functions of pandas that make a frame, beside those that read one: ``read_csv``.
_FRAMES = frozenset("DataFrame concat merge get_dummies crosstab pivot_table melt".split())
_REDUCTIONS = frozenset("max min sum mean median std var prod sem skew kurt count".split())  # of a column: a number
_ALIKE = frozenset(
    """abs astype bfill clip copy cummax cummin cumprod cumsum diff drop drop_duplicates dropna ffill fillna head
    interpolate pct_change rank replace round sample shift sort_index sort_values tail where""".split()
)
_OF_FRAMES = frozenset("at axes columns dtypes flags iat iloc index loc plot style".split())  # attributes, no columns


def _of_frame(base: Kind, name: str) -> Kind:
    """Return what a method of a frame or of a column of pandas gives: numbers of numpy's, arrays, or its like."""
    is_column = base.of == _COLUMN.of
    if name in _REDUCTIONS:
        return Kind("ndarray") if is_column else _COLUMN
    if name in ("to_numpy", "unique"):
        return Kind("ndarray")
    if name == "nunique":
        return Kind("int") if is_column else _COLUMN
    if name == "reset_index":
        return _FRAME
    return base if name in _ALIKE else UNKNOWN


def of_item(base: Kind, index: Kind) -> Kind:
    """Return what indexing an object gives that is no torch's: a column of a frame by its name, else what is unknown.

    Columns are masked and sliced, and asked for elements, which may be anything.
    """
    if base.of == _FRAME.of:
        return _COLUMN if index.name == "str" else _FRAME if index.name == "list" else UNKNOWN
    return computed_of(base)


def of_method(base: Kind, name: str, arguments: Sequence[Kind]) -> Kind:
    """Return the kind of a method's result on an object that is no torch's.

    Settings hold anything, classes as well: ``args.model_class(args)`` may be a network.
    """
    if base.of == _SPARSE:
        if name in _SPARSE_METHODS or (name == "dot" and [kind.of for kind in arguments] == [_SPARSE]):
            return _MATRIX
        return Kind("ndarray") if name in _DENSE_METHODS else UNKNOWN
    if base.of in (_FRAME.of, _COLUMN.of):
        return _of_frame(base, name)
    if name == "parse_args":
        return Kind("python", _SETTINGS)
    if name == "parse_known_args":
        return Kind("tuple", items=(Kind("python", _SETTINGS), Kind("list", items=(Kind("str"),))))
    return UNKNOWN if base.of == _SETTINGS else Kind("python")


def of_attribute(base: Kind, name: str) -> Kind:
    """Return the kind of an attribute of a matrix or a frame; of other objects that are no torch's nothing is known."""
    if base.of in (_FRAME.of, _COLUMN.of) and name == "values":
        return Kind("ndarray")
    if base.of == _FRAME.of:
        sizes = Kind("tuple", items=(Kind("int"), Kind("int")))
        return sizes if name == "shape" else _FRAME if name == "T" else UNKNOWN if name in _OF_FRAMES else _COLUMN
    if base.of != _SPARSE:
        return UNKNOWN
    return _MATRIX if name == "T" else Kind("ndarray") if name in _SPARSE_ARRAYS else UNKNOWN


def of_arithmetic(left: Kind, right: Kind) -> Kind:
    """Return what complex numbers, arrays and sparse matrices give with what is no tensor: ``2j * math.pi``."""
    if COMPLEX in (left, right) and all(kind.is_number or kind.name in ("python", "module") for kind in (left, right)):
        return COMPLEX
    if _SPARSE in (left.of, right.of):
        return _MATRIX  # or a matrix of numpy
    for side, other in ((left, right), (right, left)):
        if side.of in (_FRAME.of, _COLUMN.of) and (other.is_number or other.of == side.of or other.name == "ndarray"):
            return side
    return Kind("ndarray") if "ndarray" in (left.name, right.name) else UNKNOWN


# Libraries whose results are certainly no torch objects; of any other library nothing is known.
_PYTHON_LIBRARIES = frozenset(
    """argparse json math os sys re time datetime random pathlib logging collections itertools glob shutil pickle
    csv yaml functools subprocess tempfile warnings typing enum string struct inspect hashlib platform socket
    yacs omegaconf configargparse""".split()
)


# Their functions that give back whatever they are given, or whatever was stored.
_OF_ANYTHING = frozenset({"functools.reduce", "pickle.load", "pickle.loads"})


# Functions of numpy that give several arrays, or one or several.
_SEVERAL_ARRAYS = frozenset(
    """ix_ where nonzero unravel_index triu_indices tril_indices diag_indices indices meshgrid ogrid mgrid split
    array_split histogram unique load s_ index_exp broadcast_arrays""".split()
)


# Those that give several whatever they get, and functions of random that give elements of what they get.
_LISTED = frozenset(
    f"numpy.{name}"
    for name in ("nonzero", "unravel_index", "triu_indices", "tril_indices", "ix_", "diag_indices", "split")
)
_PICKS = frozenset({"random.choice", "random.choices", "random.sample"})


# Functions of numpy by element, and torch's: of a torch tensor they give a tensor.
OF_TENSORS = {
    f"numpy.{name}": f"torch.{name}"
    for name in """abs arctan ceil cos cosh exp expm1 floor log log10 log1p log2 sign sin sinh sqrt square tan
    tanh""".split()
}


# Functions of numpy that give a tensor of a tensor as well, and take further arguments by place.
OF_TENSORS_AND_MORE = {"numpy.clip": "torch.clamp", "numpy.power": "torch.pow", "numpy.reshape": "torch.reshape"}


# Functions of numpy.random that give Python's numbers unless a shape is named, with the arguments they take before it.
_DRAWS = {"rand": 0, "randn": 0, "random": 0, "random_sample": 0, "exponential": 1, "beta": 2, "gamma": 2, "normal": 2,
          "randint": 2, "uniform": 2}  # fmt: skip


def gives_array(node: ast.Call) -> bool:
    """Whether the arguments of a function of numpy's say that it gives one array, whatever its name: a ``size``."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "unique":  # with settings it gives several
        return len(node.args) == 1 and not node.keywords
    return any(keyword.arg == "size" for keyword in node.keywords)


def of_function(name: str, arguments: Sequence[Kind] = ()) -> Kind:
    """Return what a function of another package gives, where that is certain."""
    root, own = name.partition(".")[0], name.rpartition(".")[2]
    if arguments and arguments[0].is_tensor and name in (OF_TENSORS if len(arguments) == 1 else OF_TENSORS_AND_MORE):
        return Kind("Tensor", evidence="numpy's function of a tensor")
    if name in _LISTED or (name == "numpy.where" and len(arguments) == 1):
        return Kind("iterator", items=(Kind("ndarray"),))
    if own in _SEVERAL_ARRAYS:
        return UNKNOWN
    if name in _PICKS and arguments:
        element = element_of(arguments[0])
        return element if name == "random.choice" else Kind("list", items=(element,) if element.known else ())
    if name.startswith("numpy.random.") and len(arguments) <= _DRAWS.get(own, -1):
        return UNKNOWN  # a number, which has no item()
    if name in _GRAPHS or _makes_matrix(name):
        return _MATRIX
    if root == "pandas":
        return _FRAME if own in _FRAMES or own.startswith("read_") else _COLUMN if own == "Series" else UNKNOWN
    if root in ("numpy", "cv2"):
        return Kind("ndarray")
    if root == "mindone":  # in a program that is translated already
        place = place_of(name.removeprefix("mindone."))
        return Kind("instance", name) if place is not None and place.kind == "classes" else UNKNOWN
    if root == "PIL":
        return Kind("image")
    if name in ("copy.deepcopy", "copy.copy"):
        return arguments[0] if len(arguments) == 1 else UNKNOWN
    if name == "collections.OrderedDict":
        return made_dict(arguments[0] if arguments else UNKNOWN)
    if root not in _PYTHON_LIBRARIES or name in _OF_ANYTHING:
        return UNKNOWN
    if root == "math":
        return Kind("float") if name not in ("math.ceil", "math.floor", "math.prod") else Kind("int")
    return Kind("python")


def _makes_matrix(name: str) -> bool:
    module, _, own = name.rpartition(".")
    return module == _SPARSE and (own in _MATRICES or own.endswith(("_matrix", "_array")))
