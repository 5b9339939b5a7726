"""Three-way merge of texts by lines, as ``git merge-file`` does it.

``merge(base, ours, theirs)`` returns the text with the changes of both sides, and the number of places where they
contradict one another. Those are marked as git marks them::

    <<<<<<< OUT
    our lines
    =======
    their lines
    >>>>>>> torch2ms
"""

from __future__ import annotations

from torch2ms.reports.lines import changes, split_lines

__all__ = ["merge"]

OURS, THEIRS = "OUT", "torch2ms"


def merge(base: str, ours: str, theirs: str) -> tuple[str, int]:
    """Return ``ours`` with the changes from ``base`` to ``theirs``, and the number of conflicts.

    As with git, changes of both sides that overlap or touch are a conflict, unless they are the same.
    """
    old, sides = split_lines(base), (split_lines(ours), split_lines(theirs))
    edits = sorted((change, side) for side, lines in enumerate(sides) for change in changes(old, lines))
    made: list[str] = []
    conflicts = at = index = 0
    ends = [0, 0]  # how far each side is read
    while index < len(edits):
        (start, end, _, _), _ = edits[index]
        last: dict[int, tuple[int, int]] = {}  # side -> ends of its last change of this place, in the base and in it
        while index < len(edits) and edits[index][0][0] <= end:
            (_, old_end, _, new_end), side = edits[index]
            last[side] = old_end, new_end
            end = max(end, old_end)
            index += 1
        texts = []
        for side, lines in enumerate(sides):
            first = ends[side] + start - at
            old_end, new_end = last.get(side, (start, first))
            ends[side] = new_end + end - old_end
            texts.append(lines[first : ends[side]])
        made += old[at:start]
        is_conflict = len(last) == 2 and texts[0] != texts[1]
        made += _marked(*texts) if is_conflict else texts[next(iter(last))]
        conflicts += is_conflict
        at = end
    return "".join(made + old[at:]), conflicts


def _marked(ours: list[str], theirs: list[str]) -> list[str]:
    """Return two texts for one place between marks; what they begin and end with alike stays outside."""
    short = min(len(ours), len(theirs))
    head = next((i for i in range(short) if ours[i] != theirs[i]), short)
    tail = next((i for i in range(short - head) if ours[-1 - i] != theirs[-1 - i]), short - head)
    before, behind = ours[:head], ours[len(ours) - tail :]
    mine, new = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    marked = [f"<<<<<<< {OURS}\n", *_ended(mine), "=======\n", *_ended(new), f">>>>>>> {THEIRS}\n"]
    return [*before, *marked, *behind]


def _ended(lines: list[str]) -> list[str]:
    """Return lines of which the last ends like the others, so that a mark can follow."""
    return lines if not lines or lines[-1].endswith("\n") else [*lines[:-1], lines[-1] + "\n"]
