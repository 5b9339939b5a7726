from __future__ import annotations

import pytest
import yaml

from torch2ms.runtime.config import ConfigError, load_config, parse

GOOD = """\
# comment
name: resnet50   # another
lr: 0.001
decay: 1.0e-05
flags: {nesterov: true, dampening: 0, note: null}
sizes: [1, -2, 3.5, "a, b", 'it''s', {deep: [1, [2]]}]
transforms:
  - RandomCrop: {size: 32, padding: 4}
  - ToTensor
  - name: Normalize
    mean: [0.5, 0.5]
  -
    - 1
    - two words
at_key:
- 1
- x
empty_map: {}
empty_list: []
nothing:
hash: "a # b"
path: data/cifar-10
nested:
  inner:
    value: .5
"""


def test_means_the_same_to_pyyaml():
    assert parse(GOOD) == yaml.safe_load(GOOD)


@pytest.mark.parametrize("text", ["", "\n# only a comment\n", "---\n"])
def test_empty_files_are_empty_mappings(text):
    assert parse(text) == {}


def test_exponents_without_a_point_are_numbers():
    assert parse("lr: 1e-5") == {"lr": 1e-5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\n\tb: 2", "line 2: indent with spaces"),
        ("a: 1\na: 2", "line 2: 'a' is given twice"),
        ("a: [1, 2", "line 1: ']' is missing"),
        ("a: {b 1}", "line 1: expected 'key: value' inside braces"),
        ("a: [1] 2", "line 1: text behind the closing bracket"),
        ("a: *anchor", "line 1: '\\*' is not supported"),
        ("a: |\n  text", "line 1: '\\|' is not supported"),
        ('a: "open', "line 1: unfinished string"),
        ("just text", "line 1: expected 'key: value'"),
        ("a: 1\n   b: 2", "line 2: expected 'key: value' at column 1"),
        ("- a\n- b", "line 1: expected 'key: value' pairs, found a list"),
        ("  a: 1\nb: 2", "line 2: indentation does not fit"),
    ],
)
def test_what_is_not_understood_is_an_error_with_its_line(text, message):
    with pytest.raises(ConfigError, match=message):
        parse(text)


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("a: [", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"config.yaml: line 1"):
        load_config(path)
