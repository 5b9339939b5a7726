"""What CI runs, by name: ``nox -s tests`` or ``nox -s lint``; the set-up itself is the Makefile's."""

from __future__ import annotations

import nox

nox.options.sessions = ["lint", "tests"]


@nox.session(venv_backend="none")
def lint(session: nox.Session) -> None:
    session.run("make", "lint", external=True)


@nox.session(venv_backend="none")
def tests(session: nox.Session) -> None:
    session.run("make", "test", f"PYTEST_ARGS={' '.join(session.posargs)}", external=True)
