"""Families: which kind an instance of a torch class has, and which rows answer for its members."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from torch2ms.mapping_tables.counterparts import place_of
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.translator.values.kinds import PRESUMED, UNKNOWN, Kind, KindName, parse_kind

__all__ = [
    "BASE_ROWS",
    "FUNCTION",
    "LAYERS_OF",
    "MODULE_BARE",
    "OF_LAYERS",
    "PARTS",
    "RECURRENT",
    "REGISTERING",
    "WEIGHTS",
    "api_attribute",
    "call_result",
    "instance_of",
    "is_addition",
    "may_be_set",
]

# Attributes of layers that no row answers for
OF_LAYERS: dict[str, KindName] = {"weight": "Parameter", "bias": "Parameter", "padding_idx": "int"}
OF_LAYERS |= {
    f"{part}_{gate}h{layer}": "Parameter"
    for part in ("weight", "bias")
    for gate in "ih"
    for layer in ("", "_l0", "_l0_reverse", "_l1", "_l1_reverse")
}
# Longest prefix wins; an exact name beats a prefix.
_EXACT: dict[str, KindName] = {
    "torch.Tensor": "Tensor",
    "torch.nn.Parameter": "Parameter",
    "torch.jit.ScriptModule": "Module",
    "torch.nn.Buffer": "Tensor",
    "torch.autograd.Variable": "Tensor",
    "torch.device": "device",
    "torch.dtype": "dtype",
    "torch.Size": "Size",
    "torch.Generator": "Generator",
    "torch.nn.utils.rnn.PackedSequence": "PackedSequence",
    "torch.utils.data.DataLoader": "DataLoader",
    "torch.optim.swa_utils.AveragedModel": "Module",
    "torch.optim.swa_utils.SWALR": "Scheduler",
    "torch.amp.GradScaler": "GradScaler",
    "torch.cuda.amp.GradScaler": "GradScaler",
    "torch.cuda.amp.grad_scaler.GradScaler": "GradScaler",
    "accelerate.Accelerator": "Accelerator",
    "torch.utils.data.TensorDataset": "Dataset",
    "torch.utils.data.Subset": "Dataset",
    "torch.utils.data.ConcatDataset": "Dataset",
}
_PREFIXES: tuple[tuple[str, KindName], ...] = (
    ("torch.distributions.", "Distribution"),
    ("torch.optim.lr_scheduler.", "Scheduler"),
    ("torch.optim.", "Optimizer"),
    ("torch.nn.utils.", "python"),
    ("torch.nn.parallel.", "Module"),
    ("torch.nn.", "Module"),
    ("torchvision.models.", "Module"),
    ("einops.layers.", "Module"),
    ("timm.layers.", "Module"),
    ("timm.loss.", "Module"),
    ("timm.models.", "Module"),
    ("torchvision.datasets.", "Dataset"),
    ("torchvision.transforms.", "Transform"),
    ("torchvision.ops.", "Module"),
)
# Of the classes that another package has for MindSpore
_MOVED: dict[str, KindName] = {"models": "Module", "layers": "Module", "outputs": "Outputs", "classes": "instance"}
_LEGACY_TENSORS = ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool")
_SUFFIXES: tuple[tuple[str, KindName], ...] = (("Dataset", "Dataset"), ("Sampler", "Sampler"))

# The row that answers for a method or attribute which no row of the class itself names.
BASE_ROWS: dict[str, str] = {
    "Tensor": "torch.Tensor",
    "Parameter": "torch.Tensor",
    "Module": "torch.nn.Module",
    "Optimizer": "torch.optim.Optimizer",
    "Scheduler": "torch.optim.lr_scheduler.LRScheduler",
    "DataLoader": "torch.utils.data.DataLoader",
    "Dataset": "torch.utils.data.Dataset",
    "Sampler": "torch.utils.data.Sampler",
    "GradScaler": "torch.amp.GradScaler",
    "Accelerator": "accelerate.Accelerator",
    "Generator": "torch.Generator",
    "Distribution": "torch.distributions.Distribution",
    "device": "torch.device",
    "dtype": "torch.dtype",
    "Size": "torch.Size",
    "PackedSequence": "torch.nn.utils.rnn.PackedSequence",
    "Outputs": "transformers.utils.ModelOutput",
}

# Methods of networks: those that give weights, those that give parts, those that set a part, by its kind
WEIGHTS = frozenset({"parameters", "named_parameters"})
PARTS = frozenset({"children", "named_children", "modules", "named_modules"})
REGISTERING: dict[str, KindName] = {
    "register_buffer": "Tensor",
    "register_parameter": "Parameter",
    "add_module": "Module",
    "register_module": "Module",
}
RECURRENT = frozenset({"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"})
# What calling a layer gives, where it is not a Tensor.
_CALL_RESULTS: dict[str, str] = {
    "torch.nn.LSTM": "tuple[Tensor, tuple[Tensor, Tensor]]",
    "torch.nn.GRU": "tuple[Tensor, Tensor]",
    "torch.nn.RNN": "tuple[Tensor, Tensor]",
    "torch.nn.LSTMCell": "tuple[Tensor, Tensor]",
    "torch.nn.MultiheadAttention": "tuple[Tensor, Tensor]",
}


def call_result(layer: str, arguments: Sequence[Kind], packs: bool) -> Kind:
    """Return what calling a layer gives; ``packs``: the project packs sequences, as inputs of recurrent layers."""
    place = place_of(layer)
    if place is not None:  # a layer within may give a tensor or a tuple
        return Kind("Outputs", evidence="result of a layer") if place.kind == "models" else UNKNOWN
    given = parse_kind(_CALL_RESULTS.get(layer, "Tensor"), "result of a layer")
    first = arguments[0] if arguments else Kind("none")
    if first.name == "PackedSequence":  # a recurrent layer's outputs are packed as well
        return Kind("tuple", items=(first, *(given.items[1:] or (UNKNOWN,))))
    if packs and given.name == "tuple" and (not first.known or first.evidence == PRESUMED):
        return Kind("tuple", items=(UNKNOWN, *given.items[1:]))
    return given


# Private base classes, and a layer that is an instance of each: its members have other names than those of the class.
LAYERS_OF: dict[str, str] = {
    "torch.nn.modules.batchnorm._BatchNorm": "torch.nn.BatchNorm2d",
    "torch.nn.modules.batchnorm._NormBase": "torch.nn.BatchNorm2d",
}

# The class whose descendants are called through ``apply``, which runs their ``forward``.
FUNCTION = "torch.autograd.Function"

# Names whose call without arguments tells a network; with arguments they are other things (DataFrame.eval).
MODULE_BARE = frozenset({"train", "eval"})


@lru_cache(maxsize=4096)
def instance_of(name: str) -> Kind:
    """Return the kind of an instance of the torch class ``name`` (canonical); UNKNOWN for classes of no family."""
    kind = _EXACT.get(name)
    if kind in ("Tensor", "Parameter", "device", "dtype", "Size", "Generator"):
        return Kind(kind, evidence=name)
    if kind is not None:
        return Kind(kind, name, evidence=name)
    last = name.rpartition(".")[2]
    if name.startswith("torch.distributions.") and last.endswith("Transform"):
        return UNKNOWN
    if last.endswith("Tensor") and last[:-6] in _LEGACY_TENSORS:
        return Kind("Tensor", evidence=name)
    if name.startswith("torch.utils.data."):
        found = next((family for suffix, family in _SUFFIXES if last.endswith(suffix)), None)
        return UNKNOWN if found is None else Kind(found, name, evidence=name)
    if last == "*":  # whatever the module has of a name that is chosen at run time
        return next((Kind(family, evidence=name) for prefix, family in _PREFIXES if name == f"{prefix}*"), UNKNOWN)
    if (place := place_of(name)) is not None:
        moved = _MOVED.get(place.kind)
        return Kind(moved, place.name, evidence=name) if moved is not None else UNKNOWN
    if last.lstrip("_")[:1].isupper():
        for prefix, family in _PREFIXES:
            if name.startswith(prefix):
                return Kind(family, name, evidence=name)
    return UNKNOWN


def is_addition(tables: Tables, base: Kind, name: str) -> bool:
    """Whether a name in a module of torch is none of torch's own: ``nn.MaskedLinear = MaskedLinear``."""
    inner = f"{base.of}.{name}"
    return base.name == "api" and tables.is_module(base.of) and not tables.kind_of_name(inner) and not tables.row(inner)


def may_be_set(tables: Tables, base: Kind, name: str) -> bool:
    """Whether what a program puts into an attribute is what it finds there: not where it changes a module's own."""
    return base.name not in ("api", "module") or is_addition(tables, base, name)


def api_attribute(tables: Tables, base: Kind, name: str) -> Kind | None:
    """Return the torch name ``base.name``; None for a member of a value: ``torch.__version__.split``."""
    row = tables.row(base.of)
    if row is not None and row.kind == "constant" and row.returns in ("str", "python"):
        return None
    names = sorted({tables.canonical(f"{owner}.{name}") for owner in base.of.split("|")})
    return Kind("api", "|".join(names), evidence=base.evidence)
