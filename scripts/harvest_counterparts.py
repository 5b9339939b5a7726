"""Write what mindone has of Hugging Face's packages: torch2ms/mapping_tables/counterparts/*.toml.

Both packages are read, not imported: unpacked wheels at the pinned versions are all it needs.

    pip download --no-deps transformers==4.57.1 diffusers==0.35.2 peft==0.15.2 mindone==0.5.0   # and unzip each
    python scripts/harvest_counterparts.py FOLDER [--check]

FOLDER holds the packages themselves: ``FOLDER/transformers``, ``FOLDER/mindone``, ... With ``--check`` nothing is
written, and the exit status is 1 where a file would change.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import textwrap
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from static_package import Definition, Package, parameters

OUT = Path(__file__).resolve().parent.parent / "torch2ms" / "mapping_tables" / "counterparts"
VERSIONS = {"transformers": "4.57.1", "diffusers": "0.35.2", "peft": "0.15.2"}
MINDONE = "0.5.0"
# Files whose names need no torch, and stay: mindone itself takes them from transformers
STAYING = ("configuration", "tokenization", "processing", "image_processing", "feature_extraction", "video_processing")
PLAIN = ("utils", "file_utils", "hf_argparser")
OTHER_FRAMEWORKS = re.compile(r"(?:^|_)(?:tf|flax|keras|mlx)(?:_|$)|onnx")
FORMER = {"TrainingArguments": {"evaluation_strategy": "eval_strategy"}}  # arguments by the names of older releases
ROOTS = {"PreTrainedModel", "ModelMixin", "_BaseAutoModelClass", "_BaseAutoBackboneClass"}  # bases of what is loaded
OUTPUTS = {"ModelOutput", "BaseOutput"}
LOSS = "CrossEntropyLoss"
METHODS = ("encode", "decode", "step", "step_pred", "step_correct", "tiled_encode", "tiled_decode")  # with return_dict
INNER = re.compile(
    r"modeling_|^generation\.|^models\.(attention|autoencoders|controlnets|transformers|unets|embeddings)|^tuners\."
)
KINDS = ("models", "layers", "outputs", "classes", "functions")
HEADERS = {
    "models": "Networks that are loaded as a whole: their calls give outputs by name.",
    "layers": "Networks that others are made of.",
    "outputs": "What networks give: parts by name.",
    "classes": "Other classes.",
    "functions": "Functions.",
}


@dataclass
class Found:
    """What a package's names become."""

    moved: dict[str, dict[str, list[str]]] = field(default_factory=lambda: {kind: defaultdict(list) for kind in KINDS})
    stays: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    asks: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # a tuple unless return_dict=True
    refuses: list[str] = field(default_factory=list)  # take no return_dict
    without: dict[str, dict[str, list[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    int32: list[str] = field(default_factory=list)  # their losses take no other labels
    places: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    signatures: dict[str, str] = field(default_factory=dict)  # of what lacks arguments


class Harvest:
    """Compares one package with its counterpart, name by name."""

    def __init__(self, ours: Package, theirs: Package) -> None:
        """Take the package built on PyTorch, and the one of MindSpore's world."""
        self.ours, self.theirs = ours, theirs
        self.public, self.their_public = ours.exports(""), theirs.exports("")
        self.found = Found()

    def run(self) -> Found:
        """Go through the public names, then through the classes of the modules that mindone has as well."""
        for name in sorted(self.public):
            definition = self.ours.find("", name)
            if definition is not None and not OTHER_FRAMEWORKS.search(definition.module.replace(".", "_")):
                self._name(name, definition)
        for module in self.ours.modules():
            if INNER.search(module) and not OTHER_FRAMEWORKS.search(module) and self.theirs.tree(module) is not None:
                for name, place in sorted(self.ours.bound(module).items()):
                    if name not in self.public and not name.startswith("_") and place == (module, name):
                        self._inner(module, name)
        return self.found

    def _inner(self, module: str, name: str) -> None:
        """Add a class that is reached through its module only, where both take the very same arguments."""
        ours, theirs = self.ours.find(module, name), self.theirs.find(module, name)
        if ours is None or theirs is None or isinstance(ours.node, ast.FunctionDef):
            return
        kind = self._kind(ours)
        for names in (("__init__",), ("forward", "construct")) if kind != "outputs" else ():
            mine, other = self.ours.method(ours, *names), self.theirs.method(theirs, *names)
            if (mine is None) != (other is None):
                return
            if mine is not None and other is not None and parameters(mine, True) != parameters(other, True):
                return
        self.found.moved[kind][module].append(f".{name}")

    def _stays(self, module: str) -> bool:
        stem = module.rpartition(".")[2]
        return any(stem.startswith(word) for word in STAYING) and not self._needs_torch(module)

    def _needs_torch(self, module: str) -> bool:
        """Whether importing a module imports torch, under no condition."""
        tree = self.ours.tree(module)
        for node in tree.body if tree is not None else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            if any(name.partition(".")[0] in ("torch", "torchvision") for name in names):
                return True
        return False

    def _name(self, name: str, definition: Definition) -> None:
        """Say what becomes of a public name."""
        module = definition.module
        if not self._stays(module):
            target = self.theirs.find("", name) or self.theirs.find(module, definition.name)
            if target is not None and type(target.node) is type(definition.node):
                written = name if name in self.their_public else f"{name}*"
                self.found.moved[self._kind(definition)][module].append(written)
                self._compare(name, definition, target)
                return
            if self._needs_torch(module) or re.search(r"modeling_|^pipelines|^trainer", module):
                self.found.lacks.append(name)
                return
        (self.found.lacks if name.endswith("ImageProcessorFast") else self.found.stays).append(name)

    def _kind(self, definition: Definition) -> str:
        if isinstance(definition.node, ast.FunctionDef):
            return "functions"
        names = {base.name for base in self.ours.bases(definition)}
        if names & OUTPUTS:
            return "outputs"
        outer = {text.rpartition(".")[2] for text in self.ours.outer_bases(definition)}
        if names & ROOTS:
            return "models"
        layers = {"Module", "ModuleList", "Sequential", "Linear", "Embedding", "Conv1d", "Conv2d", "LayerNorm"}
        return "layers" if outer & layers else "classes"

    def _compare(self, name: str, definition: Definition, target: Definition) -> None:
        """Note what a class's constructor and call lack in mindone, and where places differ."""
        if isinstance(definition.node, ast.FunctionDef):
            assert isinstance(target.node, ast.FunctionDef)
            self._parameters(name, parameters(definition.node, False), parameters(target.node, False), "functions")
            return
        for kind, names in (("constructors", ("__init__",)), ("calls", ("forward", "construct", "__call__"))):
            ours = self.ours.method(definition, *names)
            theirs = self.theirs.method(target, *names)
            if ours is None or theirs is None:
                continue
            given, taken = parameters(ours, True), parameters(theirs, True)
            self._parameters(name, given, taken, kind)
            if kind == "calls" and "return_dict" not in taken and not _takes_any(taken, theirs):
                self.found.refuses += [name] if self._kind(definition) == "models" else []

        if (fields := self.ours.fields(definition)) and self.ours.method(definition, "__init__") is None:
            self._parameters(name, fields, self.theirs.fields(target), "constructors")
        call = self.theirs.method(target, "construct")
        if call is not None and self._takes_int32(target.module, ast.unparse(call)):
            self.found.int32.append(name)
        for method in ("forward", "__call__", *METHODS):
            theirs = self.theirs.method(target, "construct" if method == "forward" else method)
            if theirs is not None and parameters(theirs, True).get("return_dict") == "False":
                self.found.asks["calls" if method in ("forward", "__call__") else method].append(name)

    def _takes_int32(self, module: str, text: str) -> bool:
        """Whether a network computes its loss by MindSpore's own layer, which takes int32 labels alone."""
        sources: dict[str, str] = {}  # name -> where it comes from
        for node in ast.walk(self.theirs.tree(module) or ast.Module([], [])):
            if isinstance(node, ast.ImportFrom) and not node.level:
                sources |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                sources |= {alias.asname: alias.name for alias in node.names if alias.asname}
        called = re.findall(rf"(?<!\.)\b((?:[\w.]+\.)?){LOSS}\(", text)
        return any(
            sources.get(LOSS) == f"mindspore.nn.{LOSS}" if not prefix else sources.get(prefix[:-1]) == "mindspore.nn"
            for prefix in called
        )

    def _parameters(self, name: str, ours: dict[str, str | None], theirs: dict[str, str | None], kind: str) -> None:
        takes_any = kind != "constructors" and any(key.startswith("**") for key in theirs)
        lacking = [key for key in ours if not key.startswith("*") and key not in theirs and not takes_any]
        for key in lacking:
            self.found.without[kind][key].append(name)
        if kind != "calls":
            if lacking:
                shown = [key if default is None else f"{key}={default}" for key, default in ours.items()]
                shown += [f"{former}=None" for former in FORMER.get(name, {})]
                self.found.signatures[name] = f"({', '.join(shown)})"
            return
        mine = [key for key in ours if not key.startswith("*")]
        other = [key for key in theirs if not key.startswith("*")]
        same = next(
            (i for i, (a, b) in enumerate(zip(mine, other, strict=False)) if a != b), min(len(mine), len(other))
        )
        if same < len(mine):
            self.found.places[str(same)].append(name)


def _takes_any(taken: dict[str, str | None], node: ast.FunctionDef) -> bool:
    """Whether a call takes ``return_dict`` among further arguments, which a decorator reads."""
    decorators = " ".join(ast.unparse(decorator) for decorator in node.decorator_list)
    return any(key.startswith("**") for key in taken) and ("tuple" in decorators or "check_model" in decorators)


def fields_of(package: Package) -> dict[str, list[str]]:
    """Return the fields that the outputs of all networks have, by what they hold, where all say the same."""
    seen: dict[str, set[str]] = defaultdict(set)
    for module in package.modules():
        if OTHER_FRAMEWORKS.search(module.replace(".", "_")):
            continue
        tree = package.tree(module)
        for node in tree.body if tree is not None else ():
            if not isinstance(node, ast.ClassDef):
                continue
            if {base.name for base in package.bases(Definition(module, node))} & OUTPUTS:
                for part in node.body:
                    if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                        seen[part.target.id].add(_held(ast.unparse(part.annotation)))
    kinds = {"Tensor": "tensors", "tuple": "tuples"}
    return {word: sorted(n for n, held in seen.items() if held == {kind}) for kind, word in kinds.items()}


def _held(annotation: str) -> str:
    text = re.sub(r"^(?:typing\.)?Optional\[(.*)\]$", r"\1", annotation.replace("'", "")).removesuffix(" | None")
    if re.fullmatch(r"torch\.\w*Tensor", text):
        return "Tensor"
    return "tuple" if re.fullmatch(r"[Tt]uple\[.*torch\.\w*Tensor.*\]", text) else "other"


def _words(key: str, names: list[str]) -> str:
    text = " ".join(names)
    line = f'{key} = "{text}"'
    if len(line) <= 120:
        return line
    wrapped = textwrap.wrap(text, 118, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f'{key} = """', *wrapped, '"""'])


def rendered(name: str, found: Found, fields: dict[str, list[str]]) -> str:
    """Return the text of a package's file."""
    lines = [
        f"# What mindone {MINDONE} has of {name} {VERSIONS[name]}: written by scripts/harvest_counterparts.py.",
        "# name: public on both sides; name*: public here, and below its module there; .name: below its module.",
        f'package = "{name}"',
        f'version = "{VERSIONS[name]}"',
        f'target = "mindone.{name}"',
        f'installs = "mindone=={MINDONE}"',
        "",
        "# Files whose names need no PyTorch, whatever they are, and public names of others that stay",
        f'stay_files = "{" ".join(STAYING)} {" ".join(PLAIN)}"',
        _words("stays", sorted(found.stays)),
        "",
        "# Names that mindone lacks",
        _words("lacks", sorted(found.lacks)),
        "",
        "# Networks whose calls do not take return_dict there",
        _words("refuses", sorted(found.refuses)),
        "# Networks whose losses take int32 labels",
        _words("int32", sorted(found.int32)),
    ]
    for word, names in fields.items():
        lines += [_words(word, names)]
    for kind in KINDS:
        if found.moved[kind]:
            lines += ["", f"# {HEADERS[kind]}", f"[{kind}]"]
            lines += [_words(f'"{module}"', sorted(names)) for module, names in sorted(found.moved[kind].items())]
    if found.asks:
        lines += ["", "# Calls and methods that give a tuple there unless return_dict=True", "[asks]"]
        lines += [_words(key, sorted(set(names))) for key, names in sorted(found.asks.items())]
    for kind, parts in sorted(found.without.items()):
        lines += ["", f"# Arguments that {kind} lack there", f"[without.{kind}]"]
        lines += [_words(key, sorted(set(names))) for key, names in sorted(parts.items())]
    if found.signatures:
        lines += ["", "# What these take, of which mindone lacks a part", "[signatures]"]
        lines += [f"{key} = {json.dumps(text)}" for key, text in sorted(found.signatures.items())]
        for key in sorted(FORMER.keys() & found.signatures.keys()):
            lines += ["", f"[former.{key}]", *(f'{old} = "{new}"' for old, new in FORMER[key].items())]
    if found.places:
        lines += ["", "# How many arguments a call may give by their places, where later ones have others", "[places]"]
        lines += [_words(key, sorted(names)) for key, names in sorted(found.places.items(), key=lambda x: int(x[0]))]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", choices=VERSIONS, nargs="*", default=list(VERSIONS))
    options = parser.parse_args()
    status = 0
    for name in options.only:
        ours, theirs = Package(options.folder / name), Package(options.folder / "mindone" / name)
        theirs.name = f"mindone.{name}"
        text = rendered(name, Harvest(ours, theirs).run(), fields_of(ours))
        path = OUT / f"{name}.toml"
        if options.check:
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                print(f"{path.name} is not what the packages say", file=sys.stderr)
                status = 1
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
