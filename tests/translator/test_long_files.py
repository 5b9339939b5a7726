"""Long files: what is asked about a name is found out once, however often the name is bound anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from torch2ms import translate_project
from torch2ms.translator import pipeline

HEAD = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n\n\n"
BODY = """        x = F.relu_(self.bn(self.conv(x)))
        (x1, _) = torch.max(x, dim=2)
        x2 = torch.mean(x, dim=2)
        x = x1 + x2
        x = F.max_pool1d(x, 3, 1, 1) + F.avg_pool1d(x, 3, 1, 1)
        x = x.transpose(1, 2)
        x = x * x[x > 0].sum() + x
        x = torch.cat((x, x1 - x2 / x), 0)
        print(f"{x.mean():.3f}")
"""
CLASS = """class Net{}(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 3, 1), nn.BatchNorm2d(3)

    def forward(self, x):
{}        return x


"""


@pytest.mark.parametrize("text", [CLASS.format("", 60 * BODY), "".join(CLASS.format(n, 2 * BODY) for n in range(40))])
def test_names_that_are_bound_hundreds_of_times(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "SECONDS_PER_FILE", 20.0)  # of CPU time; either takes about 2
    source = tmp_path / "source"
    source.mkdir()
    (source / "model.py").write_text(HEAD + text)
    report = translate_project(source, None)
    assert "T2M105" not in {d.code for d in report.diagnostics}
    assert "T2M900" not in {d.code for d in report.diagnostics}
