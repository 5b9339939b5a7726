"""Random programs put together from the shapes that real PyTorch code has."""

from __future__ import annotations

from hypothesis import strategies as st

__all__ = ["programs", "torch_free_programs", "written_programs"]

_HEADERS = (
    "",
    "#!/usr/bin/env python\n",
    '"""A module."""\n',
    "# -*- coding: utf-8 -*-\n# licence\n",
    "from __future__ import annotations\n",
)
_IMPORTS = (
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n",
    "import torch  # tensors\nfrom torch import nn, optim\nfrom torch.nn import functional as F\n",
    "from torch import *\nimport torch, os\nimport torch.nn as nn, torch.nn.functional as F\n",
    "import os; import torch; from torch import nn; import torch.nn.functional as F  # all\n",
    "try:\n    import torch\nexcept ImportError:\n    torch = None\n"
    "import torch.nn as nn\nimport torch.nn.functional as F\n",
    "# first\nimport torch.nn as nn\n\n# second\nimport torch.nn.functional as F\nimport torch\n",
    "from torch.nn import (  # layers\n    functional as F,\n)\nimport torch.nn as nn  # nn\nimport torch\n",
)
_BLOCKS = (
    """
class Net(nn.Module):  # a network
    def __init__(self, width=8, act=nn.ReLU, norm=None):
        super(Net, self).__init__()
        self.norm = (norm or nn.BatchNorm2d)(width)  # not a method
        self.conv = nn.Conv2d(
            3,  # in
            width,
            3, padding=1, bias=False,  # no bias
        )
        self.act, self.fc = act(), nn.Linear(width, 2)

    # forward
    def forward(self, x, mask=None):
        x = self.act(self.norm(self.conv(x)))
        if mask is not None:  # masked
            x = x.masked_fill(mask, 0.)
        return self.fc(x.mean([2, 3]).view(x.size(0), -1))
""",
    """
def evaluate(model, loader, device="cpu"):
    model.eval()
    with torch.no_grad():  # no gradients
        return sum((model(x.to(device)).argmax(1) == y).sum().item() for x, y in loader)  # hits
""",
    """
net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).cuda()  # on the card
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    # one step
    optimizer.zero_grad()  # reset
    loss = F.mse_loss(net(torch.ones(2, 4)), torch.zeros(2, 4))  # loss
    loss.backward()  # backward
    optimizer.step()
    print(step, loss.item())  # print
""",
    """
torch.backends.cudnn.benchmark = True  # speed
if torch.cuda.is_available():
    # only there
    torch.cuda.manual_seed(1)  # seed
else: torch.manual_seed(1)
""",
    """
def helper(x, *args, k=torch.float32, **kw) -> 'torch.Tensor':
    '''Help torch.'''
    y = [torch.zeros(2, dtype=k) for _ in range(3)]; z = torch.cat(y)  # two on a line
    return (lambda t: t.unsqueeze(0) if t.dim() > 1 else t.float())(z) + torch.tensor([1.]) \\
        * x  # continued
""",
    """
class Plain:
    size = property(lambda self: 3)

    def step(self, env):  # gym
        state, *_ = env.step(self.size)
        return state.max(axis=0), f"{torch.pi:{'>'}10}" f"x"  # pi
""",
    """
def rare(model, x):
    y = torch.no_such_function(x)  # unknown
    z = getattr(torch, "zeros")(3)
    opt = torch.optim.Muon(model.parameters())  # unsupported
    with torch.autograd.profiler.record_function("name"):  # profiled
        torch.jit.script(model)
    x.add_(y).mul_(2)  # in place
    return y, z, opt, torch.nn.utils.rnn.pack_padded_sequence
""",
    """
@torch.no_grad()
def init(m):  # weights
    if isinstance(m, (nn.Conv2d, nn.Linear)):  # layers
        nn.init.kaiming_normal_(m.weight, mode='fan_out')
        if m.bias is not None: nn.init.zeros_(m.bias)  # bias
    elif type(m) is nn.BatchNorm2d:
        m.weight.data.fill_(1)  # ones
""",
    """
def late():
    import torch as T  # here
    from torch.utils.data import DataLoader, TensorDataset

    # data
    return DataLoader(TensorDataset(T.ones(3)), batch_size=2, shuffle=True)  # loader
""",
)
# Programs put together from statements: a class with buffers, and a function of loops, branches and comprehensions
_SETUP = (
    'self.register_buffer("mean", torch.zeros(4))  # running',
    'self.register_buffer("seen", torch.tensor(0), persistent=False)',
    "self.scale = nn.Parameter(torch.ones(4, dtype=torch.float32))",
    "self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])  # list",
    'self.heads = nn.ModuleDict({"a": nn.Linear(4, 2), "b": nn.Linear(4, 3)})',
    "self.cache = {}",
    "self.act = nn.ReLU(inplace=True) if width > 4 else nn.Identity()",
)
_STEPS = (
    "x = x + torch.ones_like(x)  # fresh",
    "x.add_(1).mul_(0.5)  # in place",
    "x += x.mean(dim=1, keepdim=True)",
    "x[x > 1] = 0  # mask",
    "x[:, 0] *= 2",
    "x = x.view(x.size(0), -1).contiguous()",
    "y = x.to(torch.float64).sum().float()  # there and back",
    "y = x.long().type_as(x) if x.dtype == torch.float32 else x.float()",
    "y = torch.stack([row.clone() for row in x if row.sum() > 0] + [x[0]])",
    "y = {i: row.size(0) for i, row in enumerate(x)}",
    "values, order = x.max(dim=1)",
    "a, *rest = x.chunk(2, dim=0)  # parts",
    "x = F.relu(x, inplace=True)",
    "with torch.no_grad():  # nothing recorded\n    x = x * 2",
    "if x.dim() == 3:  # batch\n    x = x.squeeze(0)\nelse:\n    x = x.t().t()",
    "for i in range(x.size(0)):\n    if i > 2:\n        break\n    x[i] = x[i] + i  # row",
    "while x.norm() > 100: x = x / 2",
    "def inner(t, k=2):  # nested\n    return t.unsqueeze(0).repeat(k, 1, 1)\nz = inner(x)",
    "f = lambda t: t.detach().cpu().numpy()  # to numpy",
    'try:\n    x = x.masked_fill(x < 0, 0.)\nexcept RuntimeError as error:\n    print(f"{error}: {x.mean():.3f}")',
    "assert isinstance(x, torch.Tensor) and not x.is_cuda",
    "x.data.clamp_(-1, 1)",
    "x = (lambda t: t ** 2)(x) @ torch.eye(x.shape[-1])",
)
_OWN = (
    "self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)  # update",
    "self.mean = x.detach().mean(0)",
    "self.seen += 1",
    "x = x * self.scale.to(x.device)",
    "for layer in self.layers:\n    x = self.act(layer(x))",
    "outs = {name: head(x) for name, head in self.heads.items()}",
    "if self.training: self.cache[len(self.cache)] = x",
)


def _indented(parts: list[str], depth: int) -> str:
    lines = [line for part in parts for line in part.split("\n")]
    return "".join(f"{'    ' * depth}{line}\n" for line in lines)


def _written(setup: list[str], own: list[str], steps: list[str], decorator: str) -> str:
    """Return a network and a function that are made of these statements."""
    head = "class Part(nn.Module):\n    def __init__(self, width=8):\n        super().__init__()\n"
    forward = "    def forward(self, x, *args, scale=1.0, **kwargs):\n"
    function = f"{decorator}def process(x, y=None):\n{_indented(steps, 1)}    return x, y\n"
    return f"{head}{_indented(setup, 2)}\n{forward}{_indented(own, 2)}        return x * scale\n\n\n{function}"


def written_programs() -> st.SearchStrategy[str]:
    """Return programs whose network and function are put together statement by statement."""
    return st.builds(
        lambda imports, setup, own, steps, decorator: imports + "\n" + _written(setup, own, steps, decorator),
        st.sampled_from(_IMPORTS),
        st.lists(st.sampled_from(_SETUP), max_size=5, unique=True),
        st.lists(st.sampled_from([*_OWN, *_STEPS]), max_size=5),
        st.lists(st.sampled_from(_STEPS), max_size=7),
        st.sampled_from(("", "@torch.no_grad()\n", "@torch.jit.script  # compiled\n")),
    )


_FREE = (
    "def f(a, b=2, *c, d, **e):\n\treturn a.size(0), b.max(axis=0)  # tab\n",
    "class A(object) :\n    x : int=3;y=4\n    def step(self): return self.norm(self.x).view(-1)\n",
    "s = '''torch.nn''' \"torch\"  # import torch\n",
    "for i in range( 3 ) :\n  if i: continue\n  else:\n        pass\n",
    "# torch\n\n\n\n",
    "x = {'a': [1,2 , ], **{}} ; print(x ,\\\n  end='')\n",
    "try:\n    import numpy as torch_like\nexcept (ImportError, OSError) as e: raise\n",
    "with open('f') as f, \\\n     open('g') as g: f.cuda(g.detach(), g.backward)\n",
)


def programs() -> st.SearchStrategy[str]:
    """Return programs that use torch."""
    blocks = st.lists(st.sampled_from(_BLOCKS), min_size=1, max_size=4, unique=True)
    return st.builds(
        lambda header, imports, parts, end: header + imports + "\n".join(parts) + end,
        st.sampled_from(_HEADERS),
        st.sampled_from(_IMPORTS),
        blocks,
        st.sampled_from(("", "# the end", "\n\n# the end\n")),
    )


def torch_free_programs() -> st.SearchStrategy[str]:
    """Return programs that do not use torch, odd of layout."""
    return st.lists(st.sampled_from(_FREE), min_size=1, max_size=6).map("".join)
