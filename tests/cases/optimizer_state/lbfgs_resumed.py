"""L-BFGS goes on with its history."""

import torch


def rosenbrock(w):
    return (1 - w[0]) ** 2 + 10 * (w[1] - w[0] ** 2) ** 2


def make(start, **options):
    w = torch.nn.Parameter(torch.tensor(start))
    return w, torch.optim.LBFGS([w], lr=0.5, max_iter=3, **options)


def advance(w, opt, times):
    def closure():
        opt.zero_grad()
        loss = rosenbrock(w)
        loss.backward()
        return loss

    for _ in range(times):
        opt.step(closure)


for options in ({"history_size": 5}, {"line_search_fn": "strong_wolfe", "history_size": 4}):
    w, opt = make([-1.0, 0.5], **options)
    advance(w, opt, 3)
    kept = opt.state_dict()
    print(sorted(kept["state"][0]), kept["state"][0]["n_iter"], kept["state"][0]["func_evals"])
    torch.save({"w": w.detach(), "opt": kept}, "l.pt")
    advance(w, opt, 3)
    saved = torch.load("l.pt")
    v, fresh = make(saved["w"].tolist())
    fresh.load_state_dict(saved["opt"])
    advance(v, fresh, 3)
    print([round(x, 4) for x in w.tolist()], [round(x, 4) for x in v.tolist()])
    print(fresh.param_groups[0]["history_size"], fresh.param_groups[0]["line_search_fn"])
