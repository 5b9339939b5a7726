"""Find the source of a package that is to be translated with a project: ``--with timm``, ``--with ./timm-1.0.whl``.

The answer is a ``PackageSource``: the folder with its top-level modules, and the files of its metadata and licence.
Nothing is imported and nothing of an archive is run: an sdist is unpacked, never built.
"""

from __future__ import annotations

import email.parser
import importlib.machinery
import importlib.util
import os
import re
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import IO

from torch2ms.errors import UsageError

__all__ = ["COMPILED_SUFFIXES", "PackageSource", "is_place", "opened_packages"]

COMPILED_SUFFIXES = frozenset({".so", ".pyd", ".dylib", ".dll"})
_ARCHIVE = re.compile(r".+\.(whl|zip|tgz|tar(\.(gz|bz2|xz))?)", re.IGNORECASE)
_LARGEST = 1 << 30  # bytes of an unpacked archive
_LICENCE = re.compile(r"(licen[cs]e|copying|notice|authors)", re.IGNORECASE)
_METADATA = re.compile(r"METADATA|entry_points\.txt|top_level\.txt")


@dataclass(frozen=True, slots=True)
class PackageSource:
    """Where the source of one package lies; nothing of it has been read but its metadata."""

    name: str  # of the distribution, or of its only module
    version: str  # "" where nothing says it
    folder: Path  # holds the top-level modules
    modules: tuple[str, ...]
    about: tuple[tuple[str, Path], ...] = ()  # (path in OUT, file): metadata and licences
    requires: tuple[str, ...] = ()  # the requirements that hold without an extra
    starts: tuple[str, ...] = field(default=())  # modules that its entry points name


def is_place(text: str) -> bool:
    """Whether ``--with`` names a file or folder and not an installed package, by pip's rule: it looks like a path."""
    return "/" in text or os.sep in text or _ARCHIVE.fullmatch(text) is not None or text in (".", "..")


@contextmanager
def opened_packages(asked: Sequence[str]) -> Iterator[tuple[PackageSource, ...]]:
    """Give the sources of packages; archives are unpacked for the duration of the block.

    Raises UsageError for what is no package, is not installed, or is refused: an archive that leads out of its folder.
    """
    with ExitStack() as stack:
        yield tuple(_located(text, stack) if is_place(text) else _installed(text) for text in dict.fromkeys(asked))


def _installed(name: str) -> PackageSource:
    """Return an installed package, by the name it is imported by or that of its distribution."""
    try:
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
    except (ImportError, ValueError):
        spec = None
    holders = metadata.packages_distributions().get(name, [])
    distribution = _distribution(holders[0] if holders else name)
    if spec is None and distribution is not None:
        modules = [module for module, found in _modules_of(distribution) if found is not None]
        spec = next((found for module, found in _modules_of(distribution) if found is not None), None)
    else:
        modules = [name]
    if spec is None or (spec.origin in (None, "built-in", "frozen") and not spec.submodule_search_locations):
        raise UsageError(
            f"--with {name}: no package of this name is installed beside torch2ms",
            advice=f"pip install --no-deps {name}, or give its source: a folder, a wheel or an sdist",
        )
    places = list(spec.submodule_search_locations or ())
    folder = Path(places[0] if places else spec.origin or "").parent
    about, version, requires, starts = ((), "", (), ()) if distribution is None else _facts(distribution)
    own = distribution.metadata["Name"] if distribution is not None else name
    return PackageSource(own, version, folder, tuple(modules), about, requires, starts)


def _modules_of(distribution: metadata.Distribution) -> list[tuple[str, importlib.machinery.ModuleSpec | None]]:
    """Return the top-level modules of a distribution, each with where it is found."""
    own = distribution.metadata["Name"]
    names = sorted(module for module, found in metadata.packages_distributions().items() if own in found)
    return [(name, importlib.util.find_spec(name)) for name in names if name.isidentifier()]


def _distribution(name: str) -> metadata.Distribution | None:
    try:
        return metadata.distribution(name)
    except (metadata.PackageNotFoundError, ValueError):
        return None


_Facts = tuple[tuple[tuple[str, Path], ...], str, tuple[str, ...], tuple[str, ...]]


def _facts(distribution: metadata.Distribution) -> _Facts:
    """Return the files of metadata and licences, the version, the requirements, and the modules of entry points."""
    version = distribution.version
    home = f"{re.sub(r'[-_.]+', '_', distribution.metadata['Name'])}-{version}.dist-info"
    about = []
    for file in distribution.files or ():
        path = PurePosixPath(str(file))
        place = Path(str(distribution.locate_file(file)))
        if PurePosixPath(path.parts[0]).suffix != ".dist-info" or len(path.parts) == 1 or not place.is_file():
            continue
        own = path.parts[-1]
        if _METADATA.fullmatch(own) or _LICENCE.match(own) or "licenses" in path.parts[1:-1]:
            about.append((str(PurePosixPath(home, *path.parts[1:])), place))
    groups = distribution.entry_points.groups - {"console_scripts", "gui_scripts"}
    starts = {entry.module for group in groups for entry in distribution.entry_points.select(group=group)}
    return tuple(about), version, _required(distribution.requires or ()), tuple(sorted(starts))


def _required(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line for line in lines if "extra ==" not in line)


def _located(text: str, stack: ExitStack) -> PackageSource:
    """Return the package of a folder, a wheel or an sdist."""
    place = Path(text)
    if place.is_dir():
        return _of_folder(Path(os.path.realpath(place)), text)
    if not place.is_file():
        raise UsageError(f"--with {text}: there is no such file or folder", advice="give a folder, a wheel or an sdist")
    if _ARCHIVE.fullmatch(text) is None:
        raise UsageError(f"--with {text}: neither a folder nor an archive", advice="give a folder, a wheel or an sdist")
    target = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="torch2ms-with-")))
    try:
        _unpack(place, target)
    except (OSError, tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        raise UsageError(f"--with {text}: cannot be unpacked: {error}") from error
    inner = [entry for entry in target.iterdir() if entry.is_dir()]
    is_wheel = any(entry.suffix == ".dist-info" for entry in inner)
    return _of_folder(target if is_wheel or len(inner) != 1 else inner[0], text)


def _unpack(archive: Path, target: Path) -> None:
    """Write the regular files of an archive below ``target``: no links, no devices, nothing outside, no rights."""
    total = 0
    with ExitStack() as stack:
        for name, size, stream in _members(archive, stack):
            path = PurePosixPath(name.replace("\\", "/"))
            if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
                raise UsageError(f"{archive.name} is no package: {name!r} leads out of its folder")
            total += size
            if total > _LARGEST:
                raise UsageError(f"{archive.name} is no package of source: it unpacks to more than {_LARGEST} bytes")
            place = target / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(stream.read(size))


def _members(archive: Path, stack: ExitStack) -> Iterator[tuple[str, int, IO[bytes]]]:
    """Yield the regular files of an archive: name, size in bytes, and a stream of what they hold."""
    if zipfile.is_zipfile(archive):
        packed = stack.enter_context(zipfile.ZipFile(archive))
        for entry in packed.infolist():
            kind = entry.external_attr >> 28  # of Unix: 0xA is a link
            if not entry.is_dir() and kind in (0, 8):
                with packed.open(entry) as stream:
                    yield entry.filename, entry.file_size, stream
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            held = tar.extractfile(member) if member.isreg() else None
            if held is not None:
                yield member.name, member.size, held


def _of_folder(folder: Path, text: str) -> PackageSource:
    """Return the package that a folder is, or the packages that it holds, by themselves or below ``src``."""
    is_package = (folder / "__init__.py").is_file()
    home = folder.parent if is_package else folder
    modules: tuple[str, ...] = (folder.name,) if is_package else ()
    held = [found for found in metadata.distributions(path=[str(home)]) if not modules or _has(found, folder.name)]
    if len(held) == 1:
        about, version, requires, starts = _facts(held[0])
        modules = modules or _packages_in(folder) or _files_in(folder)
        return PackageSource(held[0].metadata["Name"], version, home, modules, about, requires, starts)
    if len(held) > 1:
        raise UsageError(f"--with {text}: holds several packages", advice="give the folder of one of them")
    if not modules:
        bases = (folder, folder / "src")
        held_in = [(base, names) for kind in (_packages_in, _files_in) for base in bases if (names := kind(base))]
        if not held_in:
            raise UsageError(f"--with {text}: holds no package", advice="give the folder with its __init__.py")
        home, modules = held_in[0]
    name, version, requires = _said_in(folder / "PKG-INFO")
    shelf = f"{name}-{version}.dist-info" if name and version else modules[0]
    files = [(f"{shelf}/METADATA", folder / "PKG-INFO")] if name and version else []
    files += [(f"{shelf}/{file.name}", file) for file in sorted(folder.iterdir()) if _is_licence(file)]
    files = [] if is_package else files  # what lies in the package itself comes along with it
    return PackageSource(name or modules[0], version, home, modules, tuple(files), requires)


def _has(distribution: metadata.Distribution, module: str) -> bool:
    """Whether an installed distribution has files in the package of this name."""
    return any(PurePosixPath(str(file)).parts[0] == module for file in distribution.files or ())


def _packages_in(folder: Path) -> tuple[str, ...]:
    """Return the packages in a folder; what SRC does not import of them stays where it is."""
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    return tuple(entry.name for entry in entries if (entry / "__init__.py").is_file())


def _files_in(folder: Path) -> tuple[str, ...]:
    """Return the modules in a folder that are single files."""
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    return tuple(entry.stem for entry in entries if entry.suffix == ".py" and entry.stem.isidentifier())


def _is_licence(file: Path) -> bool:
    return file.is_file() and _LICENCE.match(file.parts[-1]) is not None


def _said_in(file: Path) -> tuple[str, str, tuple[str, ...]]:
    """Return name, version and requirements as the metadata of an sdist says them."""
    if not file.is_file():
        return "", "", ()
    said = email.parser.Parser().parsestr(file.read_text(encoding="utf-8", errors="replace"), headersonly=True)
    name = re.sub(r"[-_.]+", "_", str(said.get("Name", "")))
    return name, str(said.get("Version", "")), _required([str(line) for line in said.get_all("Requires-Dist", [])])
