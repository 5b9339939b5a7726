"""Small networks whose keys are those of Hugging Face's BERT, GPT-2, Llama, ViT and T5."""

import math

import torch
from torch import nn

WIDTH, HEADS, VOCABULARY = 16, 2, 23


def attend(q, k, v, bias=None):
    batch, length, width = q.shape
    q, k, v = (x.view(batch, -1, HEADS, width // HEADS).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(-2, -1) / math.sqrt(width // HEADS)
    if bias is not None:
        scores = scores + bias
    return (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(batch, length, width)


class BertSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.value = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return attend(self.query(x), self.key(x), self.value(x))


class BertOutput(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.dense = nn.Linear(size, WIDTH)
        self.LayerNorm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x, before):
        return self.LayerNorm(self.dense(x) + before)


class BertAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.self = BertSelfAttention()
        self.output = BertOutput(WIDTH)

    def forward(self, x):
        return self.output(self.self(x), x)


class BertIntermediate(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(WIDTH, 32)

    def forward(self, x):
        return nn.functional.gelu(self.dense(x))


class BertLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = BertAttention()
        self.intermediate = BertIntermediate()
        self.output = BertOutput(32)

    def forward(self, x):
        x = self.attention(x)
        return self.output(self.intermediate(x), x)


class BertEmbeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.position_embeddings = nn.Embedding(12, WIDTH)
        self.token_type_embeddings = nn.Embedding(2, WIDTH)
        self.LayerNorm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.register_buffer("position_ids", torch.arange(12).unsqueeze(0))

    def forward(self, tokens):
        positions = self.position_embeddings(self.position_ids[:, : tokens.shape[1]])
        kinds = self.token_type_embeddings(torch.zeros_like(tokens))
        return self.LayerNorm(self.word_embeddings(tokens) + positions + kinds)


class BertEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.ModuleList([BertLayer() for _ in range(2)])

    def forward(self, x):
        for layer in self.layer:
            x = layer(x)
        return x


class BertPooler(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return torch.tanh(self.dense(x[:, 0]))


class BertModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = BertEmbeddings()
        self.encoder = BertEncoder()
        self.pooler = BertPooler()

    def forward(self, tokens):
        return self.pooler(self.encoder(self.embeddings(tokens)))


class Conv1D(nn.Module):
    """A linear layer whose weight is the transposed one, as GPT-2 has it."""

    def __init__(self, nf, nx):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(nx, nf) * 0.02)
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        return torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight).view(*x.shape[:-1], -1)


class GPT2Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("bias", torch.tril(torch.ones(12, 12, dtype=torch.bool)).view(1, 1, 12, 12))
        self.c_attn = Conv1D(3 * WIDTH, WIDTH)
        self.c_proj = Conv1D(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.c_attn(x).split(WIDTH, dim=2)
        length = x.shape[1]
        mask = torch.zeros(length, length).masked_fill(~self.bias[0, 0, :length, :length], -1e9)
        return self.c_proj(attend(q, k, v, mask))


class GPT2MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_fc = Conv1D(4 * WIDTH, WIDTH)
        self.c_proj = Conv1D(WIDTH, 4 * WIDTH)

    def forward(self, x):
        return self.c_proj(nn.functional.gelu(self.c_fc(x), approximate="tanh"))


class GPT2Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(WIDTH)
        self.attn = GPT2Attention()
        self.ln_2 = nn.LayerNorm(WIDTH)
        self.mlp = GPT2MLP()

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT2LMHeadModel(nn.Module):
    def __init__(self):
        super().__init__()
        parts = {"wte": nn.Embedding(VOCABULARY, WIDTH), "wpe": nn.Embedding(12, WIDTH)}
        parts["h"] = nn.ModuleList([GPT2Block() for _ in range(2)])
        parts["ln_f"] = nn.LayerNorm(WIDTH)
        self.transformer = nn.ModuleDict(parts)
        self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.lm_head.weight = self.transformer["wte"].weight

    def forward(self, tokens):
        x = self.transformer["wte"](tokens) + self.transformer["wpe"](torch.arange(tokens.shape[1]))
        for block in self.transformer["h"]:
            x = block(x)
        return self.lm_head(self.transformer["ln_f"](x))


class RMSNorm(nn.Module):
    def __init__(self, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))
        self.eps = eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


class LlamaAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.k_proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.v_proj = nn.Linear(WIDTH, WIDTH, bias=False)
        self.o_proj = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x):
        return self.o_proj(attend(self.q_proj(x), self.k_proj(x), self.v_proj(x)))


class LlamaMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj = nn.Linear(WIDTH, 24, bias=False)
        self.up_proj = nn.Linear(WIDTH, 24, bias=False)
        self.down_proj = nn.Linear(24, WIDTH, bias=False)

    def forward(self, x):
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaDecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.self_attn = LlamaAttention()
        self.mlp = LlamaMLP()
        self.input_layernorm = RMSNorm()
        self.post_attention_layernorm = RMSNorm()

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class LlamaModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList([LlamaDecoderLayer() for _ in range(2)])
        self.norm = RMSNorm()

    def forward(self, tokens):
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


class LlamaForCausalLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = LlamaModel()
        self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens):
        return self.lm_head(self.model(tokens))


class ViTPatchEmbeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.projection = nn.Conv2d(3, WIDTH, 4, stride=4)

    def forward(self, images):
        return self.projection(images).flatten(2).transpose(1, 2)


class ViTEmbeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.cls_token = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.position_embeddings = nn.Parameter(torch.randn(1, 5, WIDTH))
        self.patch_embeddings = ViTPatchEmbeddings()

    def forward(self, images):
        x = self.patch_embeddings(images)
        return torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1) + self.position_embeddings


class ViTModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = ViTEmbeddings()
        self.encoder = BertEncoder()
        self.layernorm = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, images):
        return self.layernorm(self.encoder(self.embeddings(images)))


class T5Attention(nn.Module):
    def __init__(self, has_bias):
        super().__init__()
        self.q = nn.Linear(WIDTH, WIDTH, bias=False)
        self.k = nn.Linear(WIDTH, WIDTH, bias=False)
        self.v = nn.Linear(WIDTH, WIDTH, bias=False)
        self.o = nn.Linear(WIDTH, WIDTH, bias=False)
        if has_bias:
            self.relative_attention_bias = nn.Embedding(12, HEADS)
        self.has_bias = has_bias

    def forward(self, x):
        bias = None
        if self.has_bias:
            places = torch.arange(x.shape[1])
            bias = self.relative_attention_bias((places[:, None] - places[None, :]).abs()).permute(2, 0, 1)
        return self.o(attend(self.q(x), self.k(x), self.v(x), bias))


class T5LayerSelfAttention(nn.Module):
    def __init__(self, has_bias):
        super().__init__()
        self.SelfAttention = T5Attention(has_bias)
        self.layer_norm = RMSNorm()

    def forward(self, x):
        return x + self.SelfAttention(self.layer_norm(x))


class T5DenseReluDense(nn.Module):
    def __init__(self):
        super().__init__()
        self.wi = nn.Linear(WIDTH, 32, bias=False)
        self.wo = nn.Linear(32, WIDTH, bias=False)

    def forward(self, x):
        return self.wo(torch.relu(self.wi(x)))


class T5LayerFF(nn.Module):
    def __init__(self):
        super().__init__()
        self.DenseReluDense = T5DenseReluDense()
        self.layer_norm = RMSNorm()

    def forward(self, x):
        return x + self.DenseReluDense(self.layer_norm(x))


class T5Block(nn.Module):
    def __init__(self, has_bias):
        super().__init__()
        self.layer = nn.ModuleList([T5LayerSelfAttention(has_bias), T5LayerFF()])

    def forward(self, x):
        for layer in self.layer:
            x = layer(x)
        return x


class T5Stack(nn.Module):
    def __init__(self, embed_tokens):
        super().__init__()
        self.embed_tokens = embed_tokens
        self.block = nn.ModuleList([T5Block(number == 0) for number in range(2)])
        self.final_layer_norm = RMSNorm()

    def forward(self, tokens):
        x = self.embed_tokens(tokens)
        for block in self.block:
            x = block(x)
        return self.final_layer_norm(x)


class T5EncoderModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Embedding(VOCABULARY, WIDTH)
        self.encoder = T5Stack(self.shared)

    def forward(self, tokens):
        return self.encoder(tokens)
