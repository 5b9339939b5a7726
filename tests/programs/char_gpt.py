import math
import torch
import torch.nn as nn
from torch.nn import functional as F
from fixed import fill

# ---- hyperparameters
cfg = dict(block_size=8, n_embd=16, n_head=2, n_layer=2, lr=1e-2, warmup=4, steps=16, eval_every=8)
text = "hello world, this is a tiny corpus of text. " * 6
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
encode = lambda s: [stoi[c] for c in s]
decode = lambda l: "".join(itos[i] for i in l)
data = torch.tensor(encode(text), dtype=torch.long)
n = int(0.9 * len(data))
train_data, val_data = data[:n], data[n:]
offset = 0


def get_batch(split, batch_size=4):
    global offset
    d = train_data if split == "train" else val_data
    ix = [(offset + 7 * i) % (len(d) - cfg["block_size"]) for i in range(batch_size)]
    offset += 1
    x = torch.stack([d[i:i + cfg["block_size"]] for i in ix])
    y = torch.stack([d[i + 1:i + cfg["block_size"] + 1] for i in ix])
    return x, y


class Head(nn.Module):
    def __init__(self, head_size):
        super().__init__()
        self.key = nn.Linear(cfg["n_embd"], head_size, bias=False)
        self.query = nn.Linear(cfg["n_embd"], head_size, bias=False)
        self.value = nn.Linear(cfg["n_embd"], head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(cfg["block_size"], cfg["block_size"])))

    def forward(self, x):
        B, T, C = x.shape
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        return wei @ self.value(x)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        hs = cfg["n_embd"] // cfg["n_head"]
        self.heads = nn.ModuleList([Head(hs) for _ in range(cfg["n_head"])])
        self.proj = nn.Linear(cfg["n_embd"], cfg["n_embd"])
        self.ff = nn.Sequential(nn.Linear(cfg["n_embd"], 4 * cfg["n_embd"]), nn.GELU(), nn.Linear(4 * cfg["n_embd"], cfg["n_embd"]))
        self.ln1 = nn.LayerNorm(cfg["n_embd"])
        self.ln2 = nn.LayerNorm(cfg["n_embd"])

    def forward(self, x):
        y = self.ln1(x)
        x = x + self.proj(torch.cat([h(y) for h in self.heads], dim=-1))
        return x + self.ff(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.tok = nn.Embedding(vocab, cfg["n_embd"])
        self.pos = nn.Embedding(cfg["block_size"], cfg["n_embd"])
        self.blocks = nn.Sequential(*[Block() for _ in range(cfg["n_layer"])])
        self.ln_f = nn.LayerNorm(cfg["n_embd"])
        self.head = nn.Linear(cfg["n_embd"], vocab)

    def forward(self, idx, targets=None):
        B, T = idx.shape
        x = self.tok(idx) + self.pos(torch.arange(T, device=idx.device))
        logits = self.head(self.ln_f(self.blocks(x)))
        if targets is None:
            return logits, None
        B, T, C = logits.shape
        return logits, F.cross_entropy(logits.view(B * T, C), targets.view(B * T))

    @torch.no_grad()
    def generate(self, idx, n):
        for _ in range(n):
            logits, _ = self(idx[:, -cfg["block_size"]:])
            probs = F.softmax(logits[:, -1, :], dim=-1)
            nxt = torch.topk(probs, k=1, dim=-1).indices
            idx = torch.cat((idx, nxt), dim=1)
        return idx


def get_lr(it):
    if it < cfg["warmup"]:
        return cfg["lr"] * (it + 1) / cfg["warmup"]
    ratio = (it - cfg["warmup"]) / (cfg["steps"] - cfg["warmup"])
    return 0.1 * cfg["lr"] + 0.5 * (1.0 + math.cos(math.pi * ratio)) * 0.9 * cfg["lr"]


model = fill(GPT(len(chars)), 0.2)
print(sum(p.numel() for p in model.parameters()), "parameters")


@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ["train", "val"]:
        losses = torch.zeros(3)
        for k in range(3):
            X, Y = get_batch(split)
            _, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out


decay = [p for n, p in model.named_parameters() if p.dim() >= 2]
no_decay = [p for n, p in model.named_parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": no_decay, "weight_decay": 0.0}],
                              lr=cfg["lr"], betas=(0.9, 0.95))
for it in range(cfg["steps"]):
    lr = get_lr(it)
    for group in optimizer.param_groups:
        group["lr"] = lr
    if it % cfg["eval_every"] == 0 or it == cfg["steps"] - 1:
        losses = estimate_loss()
        print(f"step {it}: train {losses['train']:.4f}, val {losses['val']:.4f}")
    xb, yb = get_batch("train")
    logits, loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(f"iter {it}: loss {loss.item():.4f}, norm {norm:.3f}, lr {lr:.5f}")
context = torch.zeros((1, 1), dtype=torch.long)
print(len(decode(model.generate(context, n=10)[0].tolist())))
