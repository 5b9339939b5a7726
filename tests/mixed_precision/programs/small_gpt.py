"""A character model as nanoGPT trains it: a context that may be none, accumulation, clipping, a schedule by hand."""

import math
from contextlib import nullcontext

import torch
import torch.nn.functional as F
from begin import fill, weights_of
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.width = heads, width
        self.c_attn = nn.Linear(width, 3 * width, bias=False)
        self.c_proj = nn.Linear(width, width, bias=False)

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = self.c_attn(x).split(self.width, dim=2)
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(b, t, c))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.c_fc, self.c_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.c_proj(F.gelu(self.c_fc(self.ln_2(x))))


class GPT(nn.Module):
    def __init__(self, vocab=12, block=8, width=16, heads=2, layers=1):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(block, width)
        self.h = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, vocab, bias=False)

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1), dtype=torch.long))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        loss = None
        if targets is not None:
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        return logits, loss


def get_batch(step):
    ids = (torch.arange(36).reshape(4, 9) * (step % 4 + 1) + step) % 12
    return ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


def get_lr(step):
    return 0.005 * (step + 1) / 5 if step < 5 else 0.0025 * (1.0 + math.cos(math.pi * (step - 5) / 15))


def train(amp, shift):
    dtype = "float16" if amp else "float32"
    ptdtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[dtype]
    ctx = nullcontext() if dtype == "float32" else torch.amp.autocast(device_type="cpu", dtype=ptdtype)
    model = fill(GPT(), shift, 0.2)
    scaler = torch.amp.GradScaler("cpu", enabled=(dtype == "float16"))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.005, betas=(0.9, 0.95), weight_decay=0.1)
    gradient_accumulation_steps, grad_clip = 2, 1.0
    losses = []
    for iter_num in range(20):
        for param_group in optimizer.param_groups:
            param_group["lr"] = get_lr(iter_num)
        for micro_step in range(gradient_accumulation_steps):
            X, Y = get_batch(2 * iter_num + micro_step)
            with ctx:
                _, loss = model(X, Y)
                loss = loss / gradient_accumulation_steps
            scaler.scale(loss).backward()
        if grad_clip != 0.0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())
    return losses, scaler.get_scale(), weights_of(model)
