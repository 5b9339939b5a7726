"""What networks and tokenizers of Hugging Face's packages give, as the analysis sees it."""

from __future__ import annotations

import ast

import pytest

from torch2ms.translator.values.kinds import UNKNOWN, Kind
from torch2ms.translator.values.outputs import asks_for_tensors, encoded_result, makes_own, part_of


def call(text: str) -> ast.Call:
    """Return a call."""
    node = ast.parse(text, mode="eval").body
    assert isinstance(node, ast.Call)
    return node


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("tokenizer(x, return_tensors='pt')", "Outputs"),
        ("self.tokenizer.pad(x, return_tensors='pt')", "Outputs"),
        ("tokenizer.encode(x, return_tensors='pt')", "Tensor"),
        ("tokenizer.apply_chat_template(x, return_tensors='pt')", "Tensor"),
        ("tokenizer.apply_chat_template(x, return_tensors='pt', return_dict=True)", "Outputs"),
    ],
)
def test_a_keyword_of_the_package_tells_a_batch(text: str, kind: str) -> None:
    assert asks_for_tensors(call(text))
    found = encoded_result(call(text), UNKNOWN)
    assert found is not None
    assert found.name == kind


@pytest.mark.parametrize("text", ["tokenizer(x)", "tokenizer(x, return_tensors='np')", "f(return_tensors=kind)"])
def test_others_are_left_alone(text: str) -> None:
    assert encoded_result(call(text), UNKNOWN) is None


def test_functions_of_the_project_have_their_own_results() -> None:
    assert encoded_result(call("encode(x, return_tensors='pt')"), Kind("function", "a.py:encode")) is None


def test_parts_by_name_and_by_place() -> None:
    batch, outputs = Kind("Outputs", "transformers.BatchEncoding"), Kind("Outputs")
    assert part_of(batch, "anything", lambda *_: UNKNOWN).is_tensor
    assert not part_of(outputs, "anything", lambda *_: UNKNOWN).known
    assert part_of(outputs, "hidden_states", lambda *_: Kind("tuple")).name == "tuple"
    assert part_of(outputs, 0, lambda *_: UNKNOWN).is_tensor
    assert not part_of(outputs, 1, lambda *_: UNKNOWN).known


def test_class_methods_that_load_make_their_own_class() -> None:
    assert makes_own("from_pretrained", ("transformers.BertPreTrainedModel",))
    assert not makes_own("from_pretrained", ("torch.nn.Module",))
    assert not makes_own("build", ("transformers.BertPreTrainedModel",))
