"""A few parts of the kind that networks take from mmcv, written for these lists: layers from configurations."""

import inspect

from torch import nn


class Registry:
    def __init__(self, name):
        self.name = name
        self.module_dict = {}

    def get(self, key):
        return self.module_dict.get(key)

    def _register(self, module, name=None, force=False):
        name = name or module.__name__
        if not force and name in self.module_dict:
            raise KeyError(f"{name} is already registered in {self.name}")
        self.module_dict[name] = module

    def register_module(self, name=None, force=False, module=None):
        if module is not None:
            self._register(module, name, force)
            return module

        def register(cls):
            self._register(cls, name, force)
            return cls

        return register

    def build(self, cfg, **default_args):
        return build_from_cfg(cfg, self, default_args)


def build_from_cfg(cfg, registry, default_args=None):
    args = cfg.copy()
    for name, value in (default_args or {}).items():
        args.setdefault(name, value)
    kind = args.pop("type")
    if isinstance(kind, str):
        cls = registry.get(kind)
        if cls is None:
            raise KeyError(f"{kind} is not in the {registry.name} registry")
    elif inspect.isclass(kind):
        cls = kind
    else:
        raise TypeError(f"type must be a str or a class, not {type(kind)}")
    return cls(**args)


CONV_LAYERS = Registry("conv layer")
NORM_LAYERS = Registry("norm layer")
ACTIVATION_LAYERS = Registry("activation layer")

CONV_LAYERS.register_module("Conv1d", module=nn.Conv1d)
CONV_LAYERS.register_module("Conv2d", module=nn.Conv2d)
CONV_LAYERS.register_module("Conv", module=nn.Conv2d)
NORM_LAYERS.register_module("BN", module=nn.BatchNorm2d)
NORM_LAYERS.register_module("BN2d", module=nn.BatchNorm2d)
NORM_LAYERS.register_module("SyncBN", module=nn.BatchNorm2d)
NORM_LAYERS.register_module("GN", module=nn.GroupNorm)
NORM_LAYERS.register_module("LN", module=nn.LayerNorm)
for _act in (nn.ReLU, nn.LeakyReLU, nn.PReLU, nn.ReLU6, nn.ELU, nn.Sigmoid, nn.Tanh, nn.GELU, nn.SiLU):
    ACTIVATION_LAYERS.register_module(module=_act)

NORM_NAMES = {"BN": "bn", "BN2d": "bn", "SyncBN": "bn", "GN": "gn", "LN": "ln"}


def build_conv_layer(cfg, *args, **kwargs):
    settings = {"type": "Conv2d"} if cfg is None else cfg.copy()
    layer = CONV_LAYERS.get(settings.pop("type"))
    return layer(*args, **kwargs, **settings)


def build_norm_layer(cfg, num_features, postfix=""):
    settings = cfg.copy()
    kind = settings.pop("type")
    norm_layer = NORM_LAYERS.get(kind)
    if norm_layer is None:
        raise KeyError(f"Unrecognized norm type {kind}")
    name = NORM_NAMES[kind] + str(postfix)
    requires_grad = settings.pop("requires_grad", True)
    settings.setdefault("eps", 1e-5)
    channels = {"num_channels" if kind == "GN" else "num_features": num_features}
    if kind == "LN":
        channels = {"normalized_shape": num_features}
    layer = norm_layer(**channels, **settings)
    for param in layer.parameters():
        param.requires_grad = requires_grad
    return name, layer


def build_activation_layer(cfg):
    return build_from_cfg(cfg, ACTIVATION_LAYERS)


def constant_init(module, val, bias=0):
    if hasattr(module, "weight") and module.weight is not None:
        nn.init.constant_(module.weight, val)
    if hasattr(module, "bias") and module.bias is not None:
        nn.init.constant_(module.bias, bias)


def kaiming_init(module, a=0, mode="fan_out", nonlinearity="relu", bias=0, distribution="normal"):
    assert distribution in ["uniform", "normal"]
    if hasattr(module, "weight") and module.weight is not None:
        if distribution == "uniform":
            nn.init.kaiming_uniform_(module.weight, a=a, mode=mode, nonlinearity=nonlinearity)
        else:
            nn.init.kaiming_normal_(module.weight, a=a, mode=mode, nonlinearity=nonlinearity)
    if hasattr(module, "bias") and module.bias is not None:
        nn.init.constant_(module.bias, bias)


def xavier_init(module, gain=1, bias=0, distribution="normal"):
    if hasattr(module, "weight") and module.weight is not None:
        init = nn.init.xavier_uniform_ if distribution == "uniform" else nn.init.xavier_normal_
        init(module.weight, gain=gain)
    if hasattr(module, "bias") and module.bias is not None:
        nn.init.constant_(module.bias, bias)


class ConvModule(nn.Module):
    """A convolution, its norm and its activation, in an order that is asked for."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias="auto",
        conv_cfg=None,
        norm_cfg=None,
        act_cfg={"type": "ReLU"},  # noqa: B006 - as projects write it
        inplace=True,
        order=("conv", "norm", "act"),
    ):
        super().__init__()
        self.conv_cfg = conv_cfg
        self.norm_cfg = norm_cfg
        self.act_cfg = act_cfg
        self.inplace = inplace
        self.order = order
        self.with_norm = norm_cfg is not None
        self.with_activation = act_cfg is not None
        if bias == "auto":
            bias = not self.with_norm
        self.with_bias = bias
        self.conv = build_conv_layer(
            conv_cfg,
            in_channels,
            out_channels,
            kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
        )
        self.out_channels = self.conv.out_channels
        if self.with_norm:
            norm_channels = out_channels if order.index("norm") > order.index("conv") else in_channels
            self.norm_name, norm = build_norm_layer(norm_cfg, norm_channels)
            self.add_module(self.norm_name, norm)
        else:
            self.norm_name = None
        if self.with_activation:
            act_cfg_ = act_cfg.copy()
            if act_cfg_["type"] not in ["Tanh", "PReLU", "Sigmoid", "GELU"]:
                act_cfg_.setdefault("inplace", inplace)
            self.activate = build_activation_layer(act_cfg_)
        self.init_weights()

    @property
    def norm(self):
        if self.norm_name:
            return getattr(self, self.norm_name)
        return None

    def init_weights(self):
        kaiming_init(self.conv, a=0, nonlinearity="relu")
        if self.with_norm:
            constant_init(self.norm, 1, bias=0)

    def forward(self, x, activate=True, norm=True):
        for layer in self.order:
            if layer == "conv":
                x = self.conv(x)
            elif layer == "norm" and norm and self.with_norm:
                x = self.norm(x)
            elif layer == "act" and activate and self.with_activation:
                x = self.activate(x)
        return x


class Linear(nn.Linear):
    pass
