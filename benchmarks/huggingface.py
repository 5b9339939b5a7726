"""Compare networks of Hugging Face's transformers with mindone's of the same names: a table for docs/huggingface.md.

    python benchmarks/huggingface.py --torch PYTHON --mindone PYTHON [--write] [NAME ...]

Both are interpreters: one with torch and transformers, one with mindspore, mindone and transformers
(benchmarks/huggingface.toml says which). Each network is tiny and random; its weights go from one to the other as
model.safetensors. Outputs and gradients of both in float32 are held against PyTorch's in float64; PyTorch's own error
is the floor, and mindone's may be four times as large, or 1e-6. It has no kernels for CPU: stand-ins of classic
operators run in their place (torch2ms/verify/workers/stand_ins.py), so that this proves what the networks compute, and
not MindSpore's kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tomllib

HERE = Path(__file__).resolve().parent
WORKER = HERE / "huggingface_worker.py"
PAGE = HERE.parent / "docs" / "huggingface.md"
PROOFS = HERE.parent / "torch2ms" / "mapping_tables" / "counterparts" / "proofs.json"
WITH = "MindSpore 2.10.0 and mindone 0.5.0 beside PyTorch 2.13.0 and transformers 4.57.1"
BEGIN, END = "<!-- networks: written by benchmarks/huggingface.py -->", "<!-- end of the networks -->"


@dataclass
class Result:
    """How far a network is from PyTorch in float64, and PyTorch in float32 from it."""

    name: str
    output: float = 0.0
    output_floor: float = 0.0
    gradient: float = 0.0
    gradient_floor: float = 0.0
    lost: int = 0  # parameters whose gradient the other side does not have
    stand_ins: str = ""
    reason: str = ""

    @property
    def verdict(self) -> str:
        """Say whether both agree."""
        if self.reason:
            return self.reason
        near = self.output <= max(4 * self.output_floor, 1e-6) and self.gradient <= max(4 * self.gradient_floor, 1e-6)
        return "agrees" if near and not self.lost else f"{self.lost} gradients missing" if self.lost else "differs"


def compared(name: str, folder: Path) -> Result:
    """Return the result for one network."""
    for framework in ("torch", "mindspore"):
        text = folder / f"{framework}.txt"
        if text.is_file():
            first = text.read_text(encoding="utf-8").splitlines()[0]
            return Result(name, reason=f"not run, {framework}: {first[:90]}".replace("|", "/"))
    if not (folder / "mindspore.npz").is_file():
        return Result(name, reason="not run")
    reference, floor, ours = (dict(np.load(folder / f"{n}.npz")) for n in ("torch-64", "torch-32", "mindspore"))
    outputs = [key for key in reference if key.startswith("out:")]
    gradients = [key for key in reference if key.startswith("grad:") and np.abs(reference[key]).max() > 0]
    if missing := [key for key in outputs if key not in ours]:
        return Result(name, reason=f"output {missing[0][4:]} is missing")

    def far(found: dict[str, np.ndarray]) -> float:
        return max(float(np.abs(found[k] - reference[k]).max() / np.abs(reference[k]).max()) for k in outputs)

    held = [key for key in gradients if key in ours and ours[key].size == reference[key].size]

    def apart(found: dict[str, np.ndarray]) -> float:
        total = sum(float((reference[k] ** 2).sum()) for k in held)
        parts = sum(float(((found[k].reshape(reference[k].shape) - reference[k]) ** 2).sum()) for k in held)
        return float(np.sqrt(parts / total)) if total else 0.0

    stand_ins = (folder / "stand_ins.txt").read_text(encoding="utf-8")
    lost = len(gradients) - len(held)
    return Result(name, far(ours), far(floor), apart(ours), apart(floor), lost, stand_ins)


def table(results: list[Result]) -> str:
    """Return the results as a table in Markdown."""
    agreeing = sum(result.verdict == "agrees" for result in results)
    lines = [
        f"{agreeing} of {len(results)} networks agree with PyTorch.",
        "",
        "| network | outputs (floor) | gradients (floor) | verdict |",
        "|---|---|---|---|",
    ]
    for result in results:
        if result.reason:
            lines.append(f"| `{result.name}` | | | {result.reason} |")
        else:
            mark = " †" if "set_data" in result.stand_ins else ""
            outputs = f"{result.output:.1e} ({result.output_floor:.1e})"
            gradients = f"{result.gradient:.1e} ({result.gradient_floor:.1e})"
            lines.append(f"| `{result.name}`{mark} | {outputs} | {gradients} | {result.verdict} |")
    used = sorted({word for result in results for word in result.stand_ins.split()} - {"set_data"})
    note = "† its initial values use `parameter.data.set_data`, which MindSpore 2.10 lacks: a stand-in as well."
    return "\n".join([*lines, "", f"Stand-ins that ran: {', '.join(f'`{name}`' for name in used)}.", note])


def write_proofs(results: list[Result]) -> None:
    """Keep what was measured where ``torch2ms explain`` reads it."""
    measured = {result.name: result for result in results if not result.reason}
    kept = {
        name: {
            "verdict": result.verdict,
            "with": WITH,
            **{
                key: float(f"{getattr(result, key):.2e}")
                for key in ("output", "output_floor", "gradient", "gradient_floor")
            },
        }
        for name, result in sorted(measured.items())
    }
    PROOFS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    """Run both sides, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", default=sys.executable)
    parser.add_argument("--mindone", default=sys.executable)
    parser.add_argument("--write", action="store_true", help="put the table into docs/huggingface.md")
    parser.add_argument("--folder", type=Path, help="keep networks and results here")
    parser.add_argument("--missing", action="store_true", help="run only what does not agree in FOLDER")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    listed = tomllib.loads((HERE / "huggingface.toml").read_text(encoding="utf-8"))
    names = [entry["name"] for entry in listed["model"] if not options.names or entry["name"] in options.names]
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "models.json").write_text(json.dumps(listed), encoding="utf-8")
        environment = {"OMP_NUM_THREADS": "2", "ONEDNN_MAX_CPU_ISA": "AVX2", **os.environ}
        todo_all = [n for n in names if not options.missing or compared(n, folder / n).verdict != "agrees"]
        for framework, python in (("torch", options.torch), ("mindspore", options.mindone)):
            todo = list(todo_all)
            while todo:  # a crash, or a gradient that fails, ends a process: the next one goes on behind it
                command = [python, str(WORKER), framework, str(folder), *todo]
                done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
                finished = [
                    line.split()[0] for line in done.stdout.splitlines() if line.split()[:1] and line.split()[0] in todo
                ]
                if not finished:
                    (folder / todo[0]).mkdir(exist_ok=True)
                    (folder / todo[0] / f"{framework}.txt").write_text("the process ended", encoding="utf-8")
                    finished = todo[:1]
                todo = [name for name in todo if name not in finished]
        results = [compared(name, folder / name) for name in names]
    text = table(results)
    print(text)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        head, rest = page.split(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")
        write_proofs(results)
    return 0 if all(result.verdict == "agrees" for result in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
