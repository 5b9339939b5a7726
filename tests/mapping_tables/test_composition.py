"""What has no counterpart of its own is composed of what has, and keeps its values and gradients."""

from __future__ import annotations

import sys

import pytest

from torch2ms.mapping_tables import execution
from torch2ms.mapping_tables.compare import judge
from torch2ms.mapping_tables.prove import case_of
from torch2ms.mapping_tables.schema import Example
from torch2ms.mapping_tables.trials import translated

# The sigmoid focal loss of the migration guides (labels count from 1, 0 is the background), and its two other forms
BY_CLASS = """
def sigmoid_focal_loss(logits, targets, gamma, alpha):
    num_classes = logits.shape[1]
    class_range = torch.arange(1, num_classes + 1, dtype=targets.dtype, device=targets.device).unsqueeze(0)
    t = targets.unsqueeze(1)
    p = torch.sigmoid(logits)
    term1 = (1 - p) ** gamma * torch.log(p)
    term2 = p ** gamma * torch.log(1 - p)
    return -(t == class_range).float() * term1 * alpha - ((t != class_range) * (t >= 0)).float() * term2 * (1 - alpha)
sigmoid_focal_loss(x, labels, 2.0, 0.25)
"""
WITH_LOGITS = """
def sigmoid_focal_loss(inputs, targets, alpha: float = 0.25, gamma: float = 2, reduction: str = 'none'):
    p = torch.sigmoid(inputs)
    ce_loss = torch.nn.functional.binary_cross_entropy_with_logits(inputs, targets, reduction='none')
    p_t = p * targets + (1 - p) * (1 - targets)
    loss = ce_loss * ((1 - p_t) ** gamma)
    if alpha >= 0:
        alpha_t = alpha * targets + (1 - alpha) * (1 - targets)
        loss = alpha_t * loss
    if reduction == 'mean':
        loss = loss.mean()
    elif reduction == 'sum':
        loss = loss.sum()
    return loss
sigmoid_focal_loss(x, y), sigmoid_focal_loss(x, y, alpha=-1, reduction='mean')
"""
AS_A_MODULE = """
class SigmoidFocalLoss(torch.nn.Module):
    def __init__(self, gamma, alpha):
        super().__init__()
        self.gamma = gamma
        self.alpha = alpha

    def forward(self, logits, targets):
        p = logits.sigmoid()
        onehot = torch.nn.functional.one_hot(targets, logits.size(1) + 1)[:, 1:].type_as(logits)
        positive = self.alpha * onehot * (1 - p).pow(self.gamma) * torch.log(p.clamp(min=1e-8))
        negative = (1 - self.alpha) * (1 - onehot) * p.pow(self.gamma) * torch.log((1 - p).clamp(min=1e-8))
        return -(positive + negative).sum()

    def __repr__(self):
        return f'{self.__class__.__name__}(gamma={self.gamma}, alpha={self.alpha})'
SigmoidFocalLoss(2.0, 0.25)(x, labels)
"""
PROGRAMS = {"by_class": BY_CLASS, "with_logits": WITH_LOGITS, "as_a_module": AS_A_MODULE}
RUN = {
    "args": {"x": "randn(6, 4) * 3", "y": "cast(bools(6, 4), 'float32')", "labels": "randint(0, 5, 6)"},
    "grad": True,
    "tolerance": 3e-6,
}


@pytest.mark.slow
def test_sigmoid_focal_loss_agrees() -> None:
    cases = []
    for name, before in PROGRAMS.items():
        example = Example(before, "", RUN)
        trial = translated(example, before)
        assert not trial.marks, name
        assert "torch." not in trial.after.replace("torch2ms.", ""), name
        cases.append({**case_of(name, 0, example, {}), "after": trial.after})
    with execution.workplace() as place:
        expected = place.run("torch", sys.executable, cases)
        found = place.run("mindspore", sys.executable, cases)
    for case in cases:
        verdict = judge(case, expected[case["id"]], found[case["id"]])
        assert verdict.result == "equal", verdict.detail
