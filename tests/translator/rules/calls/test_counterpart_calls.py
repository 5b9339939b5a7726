"""Programs of Hugging Face's packages: imports that part, outputs by name, batches of tokenizers, changed arguments."""

from __future__ import annotations

import pytest

from torch2ms import translate_source
from torch2ms.diagnostics import Severity


def translated(source: str) -> str:
    """Return the translation of a program in which nothing is marked."""
    found = translate_source(source)
    assert [d for d in found.diagnostics if d.severity > Severity.NOTE] == []
    return found.text


def codes(source: str) -> list[str]:
    """Return the codes of what is marked."""
    return [d.code for d in translate_source(source).diagnostics if d.severity > Severity.NOTE]


def test_imports_part_between_the_packages() -> None:
    text = translated(
        "from transformers import AutoTokenizer, BertConfig, BertModel\n\n"
        'net = BertModel(BertConfig())\ntokenizer = AutoTokenizer.from_pretrained("x")\n'
    )
    assert "from mindone.transformers import BertModel\n" in text
    assert "from transformers import AutoTokenizer, BertConfig\n" in text


def test_names_through_the_module_keep_their_form() -> None:
    text = translated(
        "import transformers\n\n"
        'net = transformers.AutoModel.from_pretrained("x")\nt = transformers.AutoTokenizer.from_pretrained("x")\n'
    )
    assert "from mindone import transformers" in text
    assert 'ms_transformers.AutoTokenizer.from_pretrained("x")' in text
    assert "import transformers as ms_transformers" in text


def test_a_program_of_tokenizers_alone_is_left_as_it_is() -> None:
    source = 'from transformers import AutoTokenizer\n\nt = AutoTokenizer.from_pretrained("x")\nprint(t("a"))\n'
    assert translate_source(source).text == source


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('BertModel.from_pretrained("x", torch_dtype=torch.float16)', "dtype=ms.float16)"),
        ('BertModel.from_pretrained("x", device_map="auto")', 'from_pretrained("x")'),
        ('AutoModel.from_pretrained("x", low_cpu_mem_usage=True)', 'from_pretrained("x")'),
    ],
)
def test_loading_takes_the_arguments_of_the_other_package(call: str, expected: str) -> None:
    found = translate_source(f"import torch\nfrom transformers import AutoModel, BertModel\n\nnet = {call}\n")
    assert found.text.rstrip().endswith(expected)


def test_a_network_that_gives_tuples_is_asked_for_names() -> None:
    head = "from transformers import {name}\n\nnet = {name}.from_pretrained('x')\n\n\ndef f(ids):\n    return "
    call = "net(ids).last_hidden_state.mean(dim=1)\n"
    text = translated("import torch\n" + head.format(name="LlamaModel") + call)
    assert "net(ids, return_dict=True).last_hidden_state.mean(dim=1)" in text
    text = translated("import torch\n" + head.format(name="BertModel") + call)
    assert "net(ids).last_hidden_state.mean(dim=1)" in text


def test_parts_of_outputs_are_tensors() -> None:
    text = translated(
        "import torch\nfrom transformers import BertForSequenceClassification\n\n"
        "net = BertForSequenceClassification.from_pretrained('x')\n\n\n"
        "def f(ids):\n    outputs = net(ids)\n    return outputs.logits.argmax(dim=-1), outputs['logits'].size(0)\n"
    )
    assert "outputs.logits.argmax(axis=-1), outputs['logits'].shape[0]" in text


def test_labels_become_int32_where_the_loss_insists() -> None:
    text = translated(
        "import torch\nfrom transformers import GPT2LMHeadModel\n\nnet = GPT2LMHeadModel.from_pretrained('x')\n\n\n"
        "def f(ids, batch):\n    return net(ids, labels=ids).loss + net(**batch).loss\n"
    )
    assert "net(ids, labels=encoded.as_labels(ids)).loss + net(**encoded.with_labels(batch)).loss" in text


def test_a_batch_of_a_tokenizer_holds_tensors() -> None:
    text = translated(
        "import torch\nfrom transformers import AutoTokenizer\n\n"
        "t = AutoTokenizer.from_pretrained('x')\nbatch = t('a', return_tensors='pt').to('cuda')\n"
        "print(batch['input_ids'].size(1), batch.attention_mask.sum(dim=1))\n"
    )
    assert "batch = encoded.as_tensors(t('a', return_tensors=\"np\"))" in text
    assert "batch['input_ids'].shape[1]" in text
    assert "batch.attention_mask.sum(" in text


def test_a_function_of_the_project_keeps_its_keyword() -> None:
    source = (
        "import torch\n\n\ndef encode(x, return_tensors):\n    return x\n\n\nprint(encode(1, return_tensors='pt'))\n"
    )
    assert "encode(1, return_tensors='pt')" in translate_source(source).text


def test_a_class_of_the_project_is_a_network_of_the_package() -> None:
    text = translated(
        "import torch\nfrom torch import nn\n"
        "from transformers.models.bert.modeling_bert import BertModel, BertPreTrainedModel\n\n\n"
        "class Head(BertPreTrainedModel):\n    def __init__(self, config):\n        super().__init__(config)\n"
        "        self.bert = BertModel(config)\n        self.fc = nn.Linear(8, 2)\n\n"
        "    def forward(self, ids):\n        return self.fc(self.bert(ids)[1])\n\n\n"
        'net = Head.from_pretrained("x", torch_dtype=torch.float16)\nnet.to("cuda")\nnet.eval()\n'
    )
    assert "from mindone.transformers import BertModel, BertPreTrainedModel" in text
    assert "def construct(self, ids):" in text
    assert 'net = Head.from_pretrained("x", dtype=ms.float16)\nnet.set_train(False)\n' in text


def test_a_trainer_is_no_network() -> None:
    found = translate_source(
        "from transformers import Trainer, TrainingArguments\n\n"
        "trainer = Trainer(model=None, args=TrainingArguments('out'), processing_class=None)\ntrainer.train()\n"
    )
    assert "trainer.train()" in found.text
    assert "tokenizer=None" in found.text


@pytest.mark.parametrize(
    ("use", "code"),
    [
        ("DetrModel.from_pretrained('x')", "T2M201"),
        ("GPT2Model.from_pretrained('x')(ids, cache_position=ids)", "T2M203"),
        ("TrainingArguments('out', torch_compile=True)", "T2M203"),
        ("NoSuchModel()", "T2M202"),
    ],
)
def test_what_the_other_package_lacks_is_told_by_name(use: str, code: str) -> None:
    name = use.partition(".")[0].partition("(")[0]
    assert codes(f"import torch\nfrom transformers import {name}\n\n\ndef f(ids):\n    return {use}\n") == [code]


def test_schedules_step_with_the_optimizer() -> None:
    text = translated(
        "import torch\nfrom transformers import get_linear_schedule_with_warmup\n\nnet = torch.nn.Linear(2, 2)\n"
        "optimizer = torch.optim.AdamW(net.parameters())\n"
        "scheduler = get_linear_schedule_with_warmup(optimizer, 2, 10)\nscheduler.step()\n"
    )
    assert "warmup import get_linear_schedule_with_warmup" in text


def test_pipelines_and_autoencoders_of_diffusers() -> None:
    text = translated(
        "import torch\nfrom diffusers import AutoencoderKL, DDPMScheduler, StableDiffusionPipeline\n\n"
        "vae = AutoencoderKL.from_pretrained('x', torch_dtype=torch.float16)\n"
        "scheduler = DDPMScheduler.from_pretrained('x')\n"
        "pipe = StableDiffusionPipeline.from_pretrained('x', torch_dtype=torch.float16).to('cuda')\n"
        "pipe('a').images[0].save('x.png')\n\n\n"
        "def f(z, t, x):\n    return vae.decode(z).sample + scheduler.step(z, t, x).prev_sample\n"
    )
    assert "mindspore_dtype=ms.float16)\n" in text
    assert "pipe('a', return_dict=True).images[0]" in text
    assert "vae.decode(z, return_dict=True).sample + scheduler.step(z, t, x, return_dict=True).prev_sample" in text


def test_a_network_around_a_loaded_one_leaves_it_in_eval_mode() -> None:
    """As PyTorch has it: ``from_pretrained`` ends with ``eval()``, and a new network around it is in train mode."""
    text = translated(
        "import torch.nn as nn\nfrom transformers import AutoModel\n\n\n"
        "class Head(nn.Module):\n"
        "    def __init__(self, name):\n"
        "        super().__init__()\n"
        "        self.bert = AutoModel.from_pretrained(name)\n"
        "        self.drop = nn.Dropout(0.1)\n\n\n"
        "net = Head('x')\nnet(1)\n"
    )
    assert "net = mode.trained(Head('x'))\nnet(1)\n" in text


def test_a_network_that_was_compared_and_differs_is_marked_where_it_is_called() -> None:
    text = (
        "import torch\nfrom transformers import BertForMaskedLM, BertModel\n\n\n"
        "def f(ids):\n"
        "    return BertModel.from_pretrained('x')(ids)[0], BertForMaskedLM.from_pretrained('x')(ids).logits\n"
    )
    found = [d for d in translate_source(text).diagnostics if d.code == "T2M303"]
    assert [d.symbol for d in found] == ["transformers.BertForMaskedLM"]


def test_an_import_inside_of_a_block_stays_there() -> None:
    text = translate_source(
        "import torch\n\ntry:\n    from transformers import BertModel, BertTokenizer\nexcept ImportError:\n"
        "    BertModel = None\n\n\ndef make():\n    from transformers import GPT2LMHeadModel as G\n    return G\n\n\n"
        "def again():\n    from transformers import GPT2LMHeadModel\n    return GPT2LMHeadModel, torch.ones(2)\n"
    ).text
    assert text == (
        "from mindspore import ops\n\ntry:\n    from transformers import BertTokenizer\n"
        "    from mindone.transformers import BertModel\nexcept ImportError:\n    BertModel = None\n\n\ndef make():\n"
        "    from mindone.transformers import GPT2LMHeadModel as G\n    return G\n\n\ndef again():\n"
        "    from mindone.transformers import GPT2LMHeadModel\n    return GPT2LMHeadModel, ops.ones(2)\n"
    )
