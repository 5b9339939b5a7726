"""What mindone has of Hugging Face's packages: names in any spelling, rows made of them, and what is said of each."""

from __future__ import annotations

import pytest

from torch2ms.config import Target
from torch2ms.mapping_tables.counterparts import PACKAGES, counterparts, needed_by, place_of
from torch2ms.mapping_tables.explain import explain
from torch2ms.mapping_tables.loader import load


@pytest.mark.parametrize(
    ("name", "canonical", "kind"),
    [
        ("transformers.BertModel", "transformers.BertModel", "models"),
        ("transformers.models.bert.modeling_bert.BertModel", "transformers.BertModel", "models"),
        ("transformers.models.bert.BertModel", "transformers.BertModel", "models"),
        ("transformers.modeling_bert.BertModel", "transformers.BertModel", "models"),  # releases up to 3
        ("transformers.AutoModelForCausalLM", "transformers.AutoModelForCausalLM", "models"),
        ("transformers.AutoTokenizer", "transformers.AutoTokenizer", "stays"),
        ("transformers.BertConfig", "transformers.BertConfig", "stays"),
        ("transformers.utils.logging", "transformers.utils.logging", "stays"),
        ("transformers.DetrModel", "transformers.DetrModel", "lacks"),
        ("transformers.Trainer", "transformers.Trainer", "classes"),
        ("diffusers.UNet2DConditionModel", "diffusers.UNet2DConditionModel", "models"),
        ("diffusers.DDPMScheduler", "diffusers.DDPMScheduler", "classes"),
        ("peft.get_peft_model", "peft.get_peft_model", "functions"),
    ],
)
def test_names_have_their_place_in_any_spelling(name: str, canonical: str, kind: str) -> None:
    place = place_of(name)
    assert place is not None
    assert (place.name, place.kind) == (canonical, kind)


@pytest.mark.parametrize(
    "name", ["torch.nn.Linear", "transformers.NoSuchModel", "transformers.models.gpt2.BertModel", "numpy.array"]
)
def test_unknown_names_have_no_place(name: str) -> None:
    assert place_of(name) is None


def test_names_that_are_not_public_there_are_reached_through_their_module() -> None:
    row = load().row("transformers.StoppingCriteria")
    assert row is not None
    assert row.to[0].target == "mindone.transformers.generation.stopping_criteria.StoppingCriteria"


def test_what_stays_needs_no_release_and_what_moves_does() -> None:
    tables = load()
    old = Target((2, 3))
    stays, moves = tables.row("transformers.AutoTokenizer"), tables.row("transformers.BertModel")
    assert stays is not None
    assert moves is not None
    assert tables.select(stays, old)
    assert not tables.select(moves, old)
    assert tables.select(moves, Target((2, 10)))


def test_a_class_method_is_of_the_class_that_is_asked() -> None:
    row = load().row("transformers.BertModel.from_pretrained")
    assert row is not None
    assert row.to[0].target == "mindone.transformers.BertModel.from_pretrained"
    assert row.returns == "Module:transformers.BertModel"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_is_told_twice(package: str) -> None:
    found = counterparts(package)
    assert found is not None
    kinds = [place.kind for place in found.places.values()]
    assert len(kinds) == len(found.places)
    moved = {name for name, place in found.places.items() if place.kind not in ("stays", "lacks")}
    assert all(found.row(name) for name in moved)


def test_networks_whose_outputs_have_names_only_when_asked() -> None:
    found = counterparts("transformers")
    assert found is not None
    assert found.asks("transformers.LlamaModel")
    assert found.asks("transformers.AutoModelForCausalLM")
    assert not found.asks("transformers.BertModel")
    assert not found.asks("transformers.AutoTokenizer")
    assert found.takes_int32("transformers.GPT2LMHeadModel")
    assert not found.takes_int32("transformers.BertModel")


def test_requirements_are_those_of_the_packages_that_code_imports() -> None:
    assert needed_by(["import torch"]) == []
    assert needed_by(["from mindone.diffusers import UNet2DModel"]) == ["mindone==0.5.0", "transformers==4.57.1"]


def test_explain_says_where_a_name_goes() -> None:
    tables = load()
    assert "mindone.transformers.BertModel" in explain(tables, "transformers.BertModel")
    assert "mindone==0.5.0 has no DetrModel" in explain(tables, "transformers.DetrModel")
