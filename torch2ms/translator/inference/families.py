"""Families: which kind an instance of a torch class has, and which method names tell a receiver's kind."""

from __future__ import annotations

from torch2ms.translator.kinds import UNKNOWN, Kind, KindName

__all__ = [
    "BASE_ROWS",
    "CALL_RESULTS",
    "COMMON_NAMES",
    "MODULE_BARE",
    "MODULE_ONLY",
    "OPTIMIZER_ONLY",
    "TENSOR_ONLY",
    "instance_of",
]

# Longest prefix wins; an exact name beats a prefix.
_EXACT: dict[str, KindName] = {
    "torch.Tensor": "Tensor",
    "torch.nn.Parameter": "Parameter",
    "torch.nn.Buffer": "Tensor",
    "torch.autograd.Variable": "Tensor",
    "torch.device": "device",
    "torch.dtype": "dtype",
    "torch.Size": "Size",
    "torch.Generator": "Generator",
    "torch.utils.data.DataLoader": "DataLoader",
    "torch.amp.GradScaler": "GradScaler",
    "torch.cuda.amp.GradScaler": "GradScaler",
    "torch.cuda.amp.grad_scaler.GradScaler": "GradScaler",
    "torch.utils.data.TensorDataset": "Dataset",
    "torch.utils.data.Subset": "Dataset",
    "torch.utils.data.ConcatDataset": "Dataset",
}
_PREFIXES: tuple[tuple[str, KindName], ...] = (
    ("torch.optim.lr_scheduler.", "Scheduler"),
    ("torch.optim.", "Optimizer"),
    ("torch.nn.utils.", "python"),
    ("torch.nn.parallel.", "Module"),
    ("torch.nn.", "Module"),
    ("torchvision.models.", "Module"),
    ("torchvision.datasets.", "Dataset"),
    ("torchvision.transforms.", "Transform"),
    ("torchvision.ops.", "Module"),
)
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
    "Generator": "torch.Generator",
    "device": "torch.device",
    "dtype": "torch.dtype",
    "Size": "torch.Size",
}

# What calling a layer gives, where it is not a Tensor.
CALL_RESULTS: dict[str, str] = {
    "torch.nn.LSTM": "tuple[Tensor, tuple[Tensor, Tensor]]",
    "torch.nn.GRU": "tuple[Tensor, Tensor]",
    "torch.nn.RNN": "tuple[Tensor, Tensor]",
    "torch.nn.LSTMCell": "tuple[Tensor, Tensor]",
    "torch.nn.MultiheadAttention": "tuple[Tensor, Tensor]",
}

# Names that among the values programs handle only tensors have: enough to type a receiver nothing else is known of.
TENSOR_ONLY = frozenset(
    """backward unsqueeze unsqueeze_ permute contiguous masked_fill masked_fill_ masked_select detach detach_ cuda
    view_as expand expand_as index_select scatter_add scatter_add_ scatter_ logsumexp log_softmax bmm addmm baddbmm
    type_as new_zeros new_ones new_tensor new_full requires_grad_ is_contiguous data_ptr element_size clamp clamp_
    clamp_min clamp_max sigmoid softmax topk narrow unfold is_floating_point nelement numel repeat_interleave chunk
    flatten_ squeeze_ add_ sub_ mul_ div_ zero_ fill_ copy_ uniform_ normal_ exp_ sqrt_ pow_ unbind rsqrt is_cuda
    cpu new_zeros addcmul addcdiv addmv logsumexp rsqrt reciprocal matmul unsqueeze_ floor_ sigmoid_ tanh_ relu_
    bernoulli_ random_ index_add_ index_fill_ index_copy_ transpose_ t_ resize_ resize_as_ new_empty""".split()
)
MODULE_ONLY = frozenset(
    """parameters named_parameters named_modules named_children named_buffers register_buffer register_parameter
    register_forward_hook register_forward_pre_hook register_full_backward_hook load_state_dict_ add_module
    get_submodule""".split()
)
# Names whose call without arguments tells a network; with arguments they are other things (DataFrame.eval).
MODULE_BARE = frozenset({"train", "eval"})
# Names that numpy arrays, strings, containers, files and frames share with tensors: they tell nothing of a receiver.
COMMON_NAMES = frozenset(
    """all any argmax argmin argsort astype clip copy cumprod cumsum dot fill flatten item max mean min nonzero
    partition prod put ravel repeat reshape resize round sort split squeeze sum swapaxes take tolist trace
    transpose view index count values keys items get update pop append extend insert remove clear format type
    name data shape dtype size ndim T real imag close open read write join strip replace add abs add_ div sub mul
    pow where map apply set mode unique float int bool long half double diff dim numel eq ne lt gt le ge
    exp log sqrt log2 sin cos tanh relu gather scatter masked_fill roll flip rename is_set register_hook""".split()
)
OPTIMIZER_ONLY = frozenset({"param_groups", "add_param_group"})


def instance_of(name: str) -> Kind:
    """Return the kind of an instance of the torch class ``name`` (canonical); UNKNOWN for classes of no family."""
    kind = _EXACT.get(name)
    if kind in ("Tensor", "Parameter", "device", "dtype", "Size", "Generator"):
        return Kind(kind, evidence=name)
    if kind is not None:
        return Kind(kind, name, evidence=name)
    last = name.rpartition(".")[2]
    if last.endswith("Tensor") and last[:-6] in _LEGACY_TENSORS:
        return Kind("Tensor", evidence=name)
    if name.startswith("torch.utils.data."):
        for suffix, family in _SUFFIXES:
            if last.endswith(suffix):
                return Kind(family, name, evidence=name)
        return UNKNOWN
    if last[:1].isupper():
        for prefix, family in _PREFIXES:
            if name.startswith(prefix):
                return Kind(family, name, evidence=name)
    return UNKNOWN
