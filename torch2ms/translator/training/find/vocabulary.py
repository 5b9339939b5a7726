"""Words of the gradient analysis: what certain methods, attributes and functions do, whatever the object."""

from __future__ import annotations

import builtins

__all__ = [
    "BUILTINS",
    "CUTTING_ATTRIBUTES",
    "CUTTING_FUNCTIONS",
    "MUTATORS",
    "QUIET_METHODS",
    "RETAINING",
    "STATELESS",
    "VALUE_METHODS",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What keeps the graph of a backward call, by its present name and that of PyTorch 0.1. It changes nothing here:
# whatever needs the graph again computes it again, or is refused.
RETAINING = _words("retain_graph retain_variables")


# Reading a tensor through these attributes gives no gradient to it.
CUTTING_ATTRIBUTES = _words("""
    data shape ndim dtype device is_cuda grad requires_grad
""")

# Nor by handing it to these functions.
CUTTING_FUNCTIONS = _words("""
    len isinstance print type range id tensor from_numpy array FloatTensor LongTensor IntTensor BoolTensor
    ByteTensor zeros ones full empty zeros_like ones_like full_like rand randn randint rand_like randn_like
    arange linspace eye multinomial one_hot randperm Variable
""")

# Methods of a Module that do not compute with its weights.
QUIET_METHODS = _words("""
    train eval to cuda cpu zero_grad requires_grad_ half float double parameters named_parameters state_dict
    load_state_dict modules named_modules children apply init_hidden
""")

# Methods of values that hold no weights: tensors, arrays, strings, containers.
VALUE_METHODS = _words("""
    to cuda cpu view reshape float long int half double type bool t transpose permute size dim item items keys
    values get squeeze unsqueeze contiguous clone detach expand repeat sum mean max min numpy tolist format
    join append split strip pop next __next__ fill_ zero_ copy_ random_ normal_ uniform_ new new_zeros new_ones
    new_tensor type_as eq masked_fill scatter_ index_select narrow chunk flatten pow exp log sqrt abs add sub
    mul div matmul mm bmm zero_grad randint parse_args parse_known_args copy astype
""")

# Built-in functions, but those that run what they are given as text.
BUILTINS = frozenset(dir(builtins)) - {"eval", "exec", "__import__"}

# Methods that fill or empty a container.
MUTATORS = _words("""
    append appendleft extend insert pop popleft clear remove sort reverse add discard
""")

# Kinds of values without weights.
STATELESS = _words("""
    DataLoader Dataset Sampler Transform Generator device dtype Size ndarray image module
""")
