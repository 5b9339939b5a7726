"""Bad input, end to end: a clear message, the documented exit code, the rest translated, nothing half-written."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
GOOD = "import torch\n\n\ndef f(x: torch.Tensor) -> torch.Tensor:\n    return torch.abs(x)\n"
MakeTree = Callable[..., Path]


# Root reads and writes everything, unless it gives these powers up before it starts a program.
_CAPABILITIES = "-dac_override,-dac_read_search"
_AS_EVERYBODY = ["setpriv", f"--bounding-set={_CAPABILITIES}", f"--inh-caps={_CAPABILITIES}"]


def bound_by_permissions() -> list[str]:
    """Return what to put before a command so that permissions hold for it, or skip the test."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None or subprocess.run([*_AS_EVERYBODY, "true"], check=False).returncode:
        pytest.skip("root cannot give up its powers here")
    return _AS_EVERYBODY


def torch2ms(*arguments: str | Path, before: Sequence[str] = (), **others: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    return subprocess.run(
        [*before, sys.executable, "-m", "torch2ms", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        check=False,
        **others,
    )


def translate(src: Path, out: Path, *options: str) -> tuple[int, list[tuple[str, str, int]]]:
    """Translate; return the exit code and code, file and line of each diagnostic above a note."""
    done = torch2ms("translate", src, out, "--format", "json", *options)
    assert done.stdout, done.stderr
    assert "Traceback" not in done.stderr
    found = json.loads(done.stdout)["diagnostics"]
    return done.returncode, [
        (entry["code"], entry["file"], entry["line"]) for entry in found if entry["severity"] != "note"
    ]


def assert_fails_clearly(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert done.returncode == 2, done
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_src(tmp_path: Path) -> None:
    assert_fails_clearly(torch2ms("translate", tmp_path / "missing", tmp_path / "out"), "there is no")
    assert_fails_clearly(torch2ms("scan", tmp_path / "missing"), "there is no")
    assert os.listdir(tmp_path) == []


def test_empty_src(make_tree: MakeTree, tmp_path: Path) -> None:
    assert_fails_clearly(torch2ms("translate", make_tree({}), tmp_path / "out"), "holds no file")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("syntax.py", "import torch\nx = torch.zeros(2\n", ("T2M101", 2)),
        ("python2.py", "import torch\nprint 'hello'\n", ("T2M101", 2)),
        ("null.py", "import torch\n\nx = 1\0\n", ("T2M101", 3)),
        ("latin.py", b"import torch\nx = 1\n# caf\xe9\n", ("T2M102", 3)),
        ("codec.py", "# coding: klingon\nimport torch\n", ("T2M102", 1)),
        ("deep.py", "import torch\nx = " + "+".join("1" * 20000), ("T2M101", 1)),
    ],
)
def test_bad_file_is_copied_reported_and_the_rest_translated(
    make_tree: MakeTree, tmp_path: Path, name: str, content: str | bytes, expected: tuple[str, int]
) -> None:
    src = make_tree({name: content, "good.py": GOOD})
    code, found = translate(src, tmp_path / "out")
    assert code == 1
    assert found == [(expected[0], name, expected[1])]
    assert (tmp_path / "out" / name).read_bytes() == (src / name).read_bytes()
    assert "mindspore" in (tmp_path / "out" / "good.py").read_text()


def test_async_argument_is_repaired(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"a.py": "import torch\nx = torch.zeros(2).cuda(async=True)\n", "good.py": GOOD})
    done = torch2ms("translate", src, tmp_path / "out", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "T2M106" in {entry["code"] for entry in json.loads(done.stdout)["diagnostics"]}
    emitted = (tmp_path / "out" / "a.py").read_text()
    assert "async" not in emitted
    assert "mindspore" in emitted


def test_line_of_a_megabyte(make_tree: MakeTree, tmp_path: Path) -> None:
    text = "import torch\nDATA = '" + "x" * 1_000_000 + "'\ny = torch.abs(torch.zeros(2))\n"
    src = make_tree({"a.py": text, "good.py": GOOD})
    code, found = translate(src, tmp_path / "out")
    assert (code, found) == (0, [])
    assert "x" * 1_000_000 in (tmp_path / "out" / "a.py").read_text()


def test_links_out_and_in_circles(make_tree: MakeTree, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    src = make_tree({"good.py": GOOD, "sub/also.py": GOOD})
    (src / "sub" / "loop").symlink_to("..")
    (src / "self").symlink_to("self")
    (src / "leak").symlink_to(tmp_path / "secret.txt")
    (src / "alias").symlink_to("good.py")
    code, found = translate(src, tmp_path / "out")
    assert code == 0
    assert found == [("T2M104", name, 1) for name in ("leak", "self", "sub/loop")]
    assert not os.path.lexists(tmp_path / "out" / "leak")
    assert os.readlink(tmp_path / "out" / "alias") == "good.py"
    assert translate(src, tmp_path / "out2", "--fail-on", "warning")[0] == 1


def test_pipe_in_src(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"good.py": GOOD})
    os.mkfifo(src / "pipe.py")
    code, found = translate(src, tmp_path / "out")
    assert (code, found) == (1, [("T2M103", "pipe.py", 1)])
    assert not (tmp_path / "out" / "pipe.py").exists()


def test_unreadable_file_and_folder(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"good.py": GOOD, "locked.py": GOOD, "closed/a.py": GOOD})
    (src / "locked.py").chmod(0)
    (src / "closed").chmod(0)
    try:
        done = torch2ms("translate", src, tmp_path / "out", "--format", "json", before=bound_by_permissions())
    finally:
        (src / "closed").chmod(0o755)
    assert done.returncode == 1, done.stderr
    found = [(entry["code"], entry["file"]) for entry in json.loads(done.stdout)["diagnostics"]]
    assert found == [("T2M103", "closed"), ("T2M103", "locked.py")]
    assert "mindspore" in (tmp_path / "out" / "good.py").read_text()


def test_unreadable_src(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"good.py": GOOD})
    before = bound_by_permissions()
    src.chmod(0)
    try:
        assert_fails_clearly(torch2ms("translate", src, tmp_path / "out", before=before), "Permission denied")
    finally:
        src.chmod(0o755)
    (src / "good.py").chmod(0)
    assert_fails_clearly(torch2ms("translate", src / "good.py", tmp_path / "out", before=before), "Permission denied")


def test_newlines_marks_and_encodings_survive(make_tree: MakeTree, tmp_path: Path) -> None:
    files = {
        "crlf.py": GOOD.replace("\n", "\r\n").encode(),
        "bom.py": b"\xef\xbb\xbf" + GOOD.encode(),
        "cr.py": GOOD.replace("\n", "\r").encode(),
        "latin.py": b"# coding: latin-1\n# caf\xe9\n" + GOOD.encode(),
        "free.py": b"x  =  1\r\ny = 2\rz = 3",
    }
    src = make_tree(files)
    assert translate(src, tmp_path / "out") == (0, [])
    emitted = {name: (tmp_path / "out" / name).read_bytes() for name in files}
    assert emitted["free.py"] == files["free.py"]
    assert emitted["crlf.py"].count(b"\n") == emitted["crlf.py"].count(b"\r\n") > 0
    assert b"\n" not in emitted["cr.py"]
    assert emitted["bom.py"].startswith(b"\xef\xbb\xbf")
    assert b"caf\xe9" in emitted["latin.py"]
    assert all(b"mindspore" in emitted[name] for name in ("crlf.py", "bom.py", "cr.py", "latin.py"))


def test_existing_out_is_refused_and_kept(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"good.py": GOOD})
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.tex").write_text("x")
    assert_fails_clearly(torch2ms("translate", src, out), "exists already")
    assert_fails_clearly(torch2ms("translate", src, out, "--force"), "was not written by torch2ms")
    assert os.listdir(out) == ["thesis.tex"]


def test_force_translates_again_and_keeps_what_was_added(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"good.py": GOOD})
    out = tmp_path / "out"
    assert translate(src, out)[0] == 0
    assert translate(src, out, "--force")[0] == 0
    assert not (tmp_path / "out.backup-1").exists()
    (out / "best.ckpt").write_text("weights")
    assert translate(src, out, "--force")[0] == 0
    assert (tmp_path / "out.backup-1" / "best.ckpt").read_text() == "weights"
    assert not (out / "best.ckpt").exists()


def test_the_place_of_a_replaced_out_is_told(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"good.py": GOOD})
    torch2ms("translate", src, tmp_path / "out")
    (tmp_path / "out" / "best.ckpt").write_text("weights")
    assert "out.backup-1" in torch2ms("translate", src, tmp_path / "out", "--force").stderr


def test_git_takes_the_diff_whatever_the_newlines(make_tree: MakeTree, tmp_path: Path) -> None:
    files = {
        "crlf.py": GOOD.replace("\n", "\r\n").encode(),
        "bom.py": b"\xef\xbb\xbf" + GOOD.encode(),
        "mixed.py": GOOD.replace("\n", "\r\n", 2).encode(),
        "no_end.py": GOOD.rstrip().encode(),
    }
    src = make_tree(files)
    out = tmp_path / "out"
    translate(src, out)
    command = ["git", "apply", "--whitespace=nowarn", out / "torch2ms_report" / "changes.diff"]
    done = subprocess.run(command, cwd=src, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in files:
        assert (src / name).read_bytes() == (out / name).read_bytes(), name


def test_nested_src_and_out_are_refused(make_tree: MakeTree) -> None:
    src = make_tree({"good.py": GOOD, "sub/also.py": GOOD})
    before = sorted(src.rglob("*"))
    assert_fails_clearly(torch2ms("translate", src, src / "out"), "lies inside SRC")
    assert_fails_clearly(torch2ms("translate", src / "sub", src, "--force"), "lies inside OUT")
    assert_fails_clearly(torch2ms("translate", src, src, "--force"), "the same")
    assert sorted(src.rglob("*")) == before


def test_out_that_cannot_be_written(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"good.py": GOOD})
    assert_fails_clearly(torch2ms("translate", src, "/proc/torch2ms/out"), "cannot write")
    assert_fails_clearly(torch2ms("translate", src, src / "good.py" / "out"), "rror")


def test_read_only_parent_of_out(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"good.py": GOOD})
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    for out in (locked / "out", locked / "deeper" / "out"):
        done = torch2ms("translate", src, out, before=bound_by_permissions())
        assert_fails_clearly(done, "Permission denied")
        assert "a folder you may write to" in done.stderr
    assert os.listdir(locked) == []


def _limit_file_size() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def test_disk_that_takes_no_more(make_tree: MakeTree, tmp_path: Path) -> None:
    """The kernel refuses the write in the middle of a file, as on a full disk."""
    src = make_tree({"good.py": GOOD, "zz.bin": b"x" * 300_000})
    done = torch2ms("translate", src, tmp_path / "out", "--no-cache", preexec_fn=_limit_file_size)
    assert_fails_clearly(done, "cannot write")
    assert os.listdir(tmp_path) == ["src"]


def _has_small_disk(folder: Path) -> bool:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def test_full_disk(make_tree: MakeTree, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    if not _has_small_disk(disk):
        pytest.skip("a small file system cannot be mounted here")
    try:
        src = make_tree({"good.py": GOOD, "zz.bin": b"x" * 300_000})
        done = torch2ms("translate", src, disk / "out", "--no-cache")
        assert_fails_clearly(done, "No space left on device")
        assert os.listdir(disk) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_src_is_never_written(make_tree: MakeTree, tmp_path: Path) -> None:
    src = make_tree({"good.py": GOOD, "sub/also.py": GOOD, "bad.py": "x = ("})
    before = {path: path.stat().st_mtime_ns for path in src.rglob("*")}
    translate(src, tmp_path / "out")
    torch2ms("scan", src)
    assert {path: path.stat().st_mtime_ns for path in src.rglob("*")} == before
