"""report.sarif: the diagnostics in SARIF 2.1.0, for code scanning services and editors.

Source of the format: OASIS, Static Analysis Results Interchange Format 2.1.0.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any
from urllib.parse import quote

from torch2ms.diagnostics import CODES, Code, Diagnostic
from torch2ms.language import speaking
from torch2ms.reports.escape import printable
from torch2ms.reports.layout import laid_out
from torch2ms.reports.model import Report
from torch2ms.reports.summary import proof

__all__ = ["to_sarif"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"


def to_sarif(report: Report) -> str:
    """Return the diagnostics as SARIF text: one run, every known code a rule, paths relative to ``SRCROOT``."""
    name, _, version = report.tool.partition(" ")
    codes = list(CODES)
    seen: Counter[tuple[str, str, str]] = Counter()
    results = [_result(diagnostic, codes, seen) for diagnostic in report.diagnostics]
    results += [{**_result(found, codes, seen), "suppressions": [{"kind": "inSource"}]} for found in report.silenced]
    with speaking("en"):  # machines read it
        standing = proof(report)
    run = {
        "tool": {"driver": {"name": name, "version": version, "rules": [_rule(entry) for entry in CODES.values()]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder that was translated."}}},
        "properties": {"target": str(report.target), "proof": standing.text},
        "results": results,
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return laid_out(document, levels=4) + "\n"


def _rule(entry: Code) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "id": entry.code,
        "name": "".join(word.capitalize() for word in entry.name.split("-")),
        "shortDescription": {"text": entry.meaning},
        "defaultConfiguration": {"level": str(entry.severity)},
    }
    if entry.advice:
        rule["help"] = {"text": entry.advice}
    return rule


def _result(diagnostic: Diagnostic, codes: list[str], seen: Counter[tuple[str, str, str]]) -> dict[str, Any]:
    text = printable(diagnostic.message)
    if diagnostic.advice:
        text += "\n" + printable(diagnostic.advice)
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(diagnostic.file), "uriBaseId": _ROOT}}
    if diagnostic.line >= 1:
        location["region"] = {"startLine": diagnostic.line, "startColumn": max(1, diagnostic.column)}
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "level": str(diagnostic.severity),
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"torch2ms/v1": _fingerprint(diagnostic, seen)},
    }
    if diagnostic.code in codes:
        result["ruleIndex"] = codes.index(diagnostic.code)
    if diagnostic.symbol:
        result["locations"][0]["logicalLocations"] = [{"fullyQualifiedName": printable(diagnostic.symbol)}]
    return result


def _uri(path: str) -> str:
    """Return a relative path as a URI; a leading segment with a colon would read as a scheme, so colons are encoded."""
    return quote(path.encode("utf-8", "surrogateescape"), safe="/")


def _fingerprint(diagnostic: Diagnostic, seen: Counter[tuple[str, str, str]]) -> str:
    """Name the finding without its line, so that it stays the same when lines above it come and go."""
    key = (diagnostic.file, diagnostic.code, diagnostic.symbol)
    seen[key] += 1
    raw = "\0".join((*key, str(seen[key]))).encode("utf-8", "backslashreplace")
    return hashlib.sha256(raw).hexdigest()[:32]
