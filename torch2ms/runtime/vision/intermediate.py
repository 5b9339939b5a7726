"""What a network gives on the way."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Dict, Mapping, Optional, Sequence, Union

from mindspore import Tensor, nn

from ..layers import ModuleDict

__all__ = ["FeatureExtractor", "IntermediateLayerGetter", "create_feature_extractor"]

Nodes = Union[Sequence[str], Mapping[str, str]]


class IntermediateLayerGetter(ModuleDict):
    """The first children of a network, one after the other, up to the last whose output is asked for.

    ``return_layers``: the names of children, with the key that each one's output gets in the result. The network must
    run its children in the order in which it has them. Raises ValueError where it has none of a name.
    """

    def __init__(self, model: nn.Cell, return_layers: Dict[str, Any]) -> None:
        children = model.name_cells()
        missing = [name for name in return_layers if name not in children]
        if missing:
            raise ValueError(f"return_layers are not present in model: {', '.join(missing)}")
        names = list(children)
        last = max((names.index(name) for name in return_layers), default=-1)
        super().__init__({name: children[name] for name in names[: last + 1]})
        self.return_layers = dict(return_layers)

    def construct(self, x: Tensor) -> Dict[Any, Tensor]:
        """Return the outputs asked for, by their keys, in the order of the children."""
        found: Dict[Any, Tensor] = OrderedDict()
        for name, cell in self.items():
            x = cell(x)
            if name in self.return_layers:
                found[self.return_layers[name]] = x
        return found


class FeatureExtractor(nn.Cell):
    """A network that returns what its layers give, by the keys of ``nodes``: one mapping for each mode.

    A layer is named by its path, ``layer4.1.relu`` or ``layer4``. The whole network runs, and keeps its parameters'
    names. Raises ValueError for a name that is no layer: torchvision also names single operators, ``add_1``.
    """

    def __init__(self, model: nn.Cell, training: Mapping[str, str], evaluation: Mapping[str, str]) -> None:
        super().__init__(auto_prefix=False)
        layers = dict(model.cells_and_names())
        missing = [name for name in {**training, **evaluation} if name not in layers]
        if missing:
            raise ValueError(f"not layers of the network: {', '.join(missing)}; an output is named by its layer's path")
        self._model = (model,)  # in a tuple: its parts are cells of this one, under the names that they have there
        for name, cell in model.name_cells().items():
            self.insert_child_to_cell(name, cell)
        for name, parameter in model._params.items():
            self.insert_param_to_cell(name, parameter)
        self._nodes = {True: dict(training), False: dict(evaluation)}
        self._found: Dict[str, Any] = {}
        for name in {**training, **evaluation}:
            layers[name].register_forward_hook(self._keeper(name))
        self.set_train(model.training)

    def _keeper(self, name: str) -> Any:
        def keep(cell: nn.Cell, inputs: Any, output: Any) -> None:
            self._found[name] = output

        return keep

    def set_train(self, mode: bool = True) -> FeatureExtractor:
        """Set the mode of the network, too."""
        self._model[0].set_train(mode)
        super().set_train(mode)
        return self

    def construct(self, *inputs: Any) -> Dict[str, Any]:
        """Return the outputs asked for, by their keys, in the order in which they were asked for."""
        self._found.clear()
        self._model[0](*inputs)
        found = {key: self._found[name] for name, key in self._nodes[self.training].items()}
        self._found.clear()
        return found


def create_feature_extractor(
    model: nn.Cell,
    return_nodes: Optional[Nodes] = None,
    train_return_nodes: Optional[Nodes] = None,
    eval_return_nodes: Optional[Nodes] = None,
    tracer_kwargs: Any = None,
    suppress_diff_warning: bool = False,
    concrete_args: Any = None,
) -> FeatureExtractor:
    """Return torchvision's feature extractor, for the outputs of layers: names, or names with the keys to give them.

    Raises ValueError where the nodes of both modes are not given, or one is no layer.
    """
    training = return_nodes if train_return_nodes is None else train_return_nodes
    evaluation = return_nodes if eval_return_nodes is None else eval_return_nodes
    if training is None or evaluation is None:
        raise ValueError("give return_nodes, or both train_return_nodes and eval_return_nodes")
    return FeatureExtractor(model, _by_key(training), _by_key(evaluation))


def _by_key(nodes: Nodes) -> Dict[str, str]:
    return {str(name): str(key) for name, key in (nodes.items() if isinstance(nodes, Mapping) else zip(nodes, nodes))}
