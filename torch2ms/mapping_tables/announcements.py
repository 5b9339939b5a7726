"""What newer MindSpore releases announce about the targets of the tables: removals, renames, other defaults.

They stand in the docstrings and are kept in the catalogues. None is wrong today; each says where a row will
have to get another target, and whether what the row writes is what will change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from torch2ms.config import Version
from torch2ms.mapping_tables.catalogue import mindspore_catalogue, mindspore_releases
from torch2ms.mapping_tables.checks import holds_for
from torch2ms.mapping_tables.lookup import Tables
from torch2ms.mapping_tables.schema import MappedTo, Row

__all__ = ["Announcement", "announcements"]

_REMOVED = re.compile(r"^removed after|interface will be (deprecated|removed|changed)|interface name will be changed")


@dataclass(frozen=True, slots=True, order=True)
class Announcement:
    """A change that is announced for the target of a row.

    ``urgency``: "removal" (the name goes), "argument" (a keyword that the row writes changes), or "other".
    """

    urgency: str
    row: str
    target: str
    release: str
    text: str

    def __str__(self) -> str:
        """Return one line."""
        return f"{self.row}: {self.urgency}: {self.target}, as MindSpore {self.release} announces: {self.text}"


def announcements(tables: Tables) -> list[Announcement]:
    """Return what is announced for the targets that the newest release is given, in order of urgency and row."""
    found = set()
    for row in tables.rows():
        for option in row.to:
            if not holds_for(option.mindspore, mindspore_releases()[-1]):
                continue
            for release, text in _notes(option.target):
                urgency = _urgency(row, option, text)
                found.add(Announcement(urgency, row.name, option.target, f"{release[0]}.{release[1]}", text))
    order = ("removal", "argument", "other")
    return sorted(found, key=lambda item: (order.index(item.urgency), item))


def _notes(target: str) -> list[tuple[Version, str]]:
    """Return the announcements of the newest release that makes any about a target."""
    if target.startswith("mindspore."):
        for release in reversed(mindspore_releases()):
            record = mindspore_catalogue(release).record(target) or {}
            if "n" in record:
                return [(release, str(record["n"]))]
    return []


def _urgency(row: Row, option: MappedTo, text: str) -> str:
    if _REMOVED.search(text):
        return "removal"
    written = {*option.rename.values(), *option.add, *(option.rename.get(name, name) for name in option.write_default)}
    words = set(re.findall(r"\w+", text.partition(" and only ")[0]))
    return "argument" if written & words else "other"
