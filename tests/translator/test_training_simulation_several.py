"""Programs with a scaler, accumulation, several losses or optimizers: rewritten, they must run exactly as before."""

from __future__ import annotations

import textwrap

import pytest

from tests.translator.simulated_training import check

PROGRAMS: dict[str, tuple[str, str]] = {}


def program(name: str, shapes: str, source: str) -> None:
    PROGRAMS[name] = (shapes, textwrap.dedent(source))


program(
    "scaler",
    "C1",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        output = model(data)
        loss = criterion(output, target)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
        print(loss)
""",
)
program(
    "two branches, with and without scaler",
    "C1 B3",
    """
    optimizer = SGD(model.parameters())
    for i, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        if i % 2:
            loss = criterion(model(data), target)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss = criterion(model(data * 2), target)
            loss.backward()
            optimizer.step()
        print(loss)
""",
)
program(
    "accumulation",
    "D",
    """
    optimizer = SGD(model.parameters())
    optimizer.zero_grad()
    for i, (data, target) in enumerate(loader + loader[:3]):
        loss = criterion(model(data), target) / 2
        loss.backward()
        print(loss)
        if (i + 1) % 2 == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
)
program(
    "accumulation over epochs, clipped",
    "D",
    """
    optimizer = SGD(model.parameters())
    for epoch in range(3):
        for i, (data, target) in enumerate(loader[:3]):
            loss = criterion(model(data), target)
            loss = loss / 2
            loss.backward()
            if (i + 1) % 2 == 0 or i == 7:
                norm = clip_grad_norm_(model.parameters(), 0.7)
                optimizer.step()
                optimizer.zero_grad()
                print(norm)
""",
)
program(
    "micro batches in an inner loop",
    "D",
    """
    optimizer = SGD(model.parameters())
    data, target = loader[0]
    for it in range(4):
        for micro in range(3):
            out = model(data)
            loss = criterion(out, target) / 3
            data, target = loader[micro]
            scaler.scale(loss).backward()
        if it > 0:
            scaler.unscale_(optimizer)
            clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        print(loss.item())
""",
)
program(
    "accumulation in a function",
    "D",
    """
    def train(model, optimizer):
        optimizer.zero_grad()
        for i, (data, target) in enumerate(loader):
            loss = criterion(model(data), target)
            loss.backward()
            if i % 3 == 2:
                optimizer.step()
                optimizer.zero_grad()
    train(model, SGD(model.parameters()))
    print(model.w)
""",
)
program(
    "two losses, one step",
    "E E",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        loss_a = criterion(model(data), target)
        loss_a.backward()
        print('a', loss_a)
        loss_b = criterion(model(data * 2), target)
        loss_b.backward()
        optimizer.step()
        print('b', loss_b)
""",
)
program(
    "two optimizers, one loss",
    "F",
    """
    enc_opt = SGD(encoder.parameters())
    dec_opt = SGD(decoder.parameters(), lr=0.05)
    for data, target in loader:
        enc_opt.zero_grad()
        dec_opt.zero_grad()
        loss = criterion(decoder(encoder(data)), target)
        loss.backward()
        enc_opt.step()
        dec_opt.step()
        print(loss)
""",
)
program(
    "gan, generator first",
    "F F",
    """
    optimizerG = SGD(netG.parameters(), lr=0.01)
    optimizerD = SGD(netD.parameters(), lr=0.01)
    for real, z in loader:
        optimizerG.zero_grad()
        fake = netG(z)
        g_loss = criterion(netD(fake), 1)
        g_loss.backward()
        optimizerG.step()
        optimizerD.zero_grad()
        d_loss = criterion(netD(real), 1) + criterion(netD(fake.detach()), 0)
        d_loss.backward()
        optimizerD.step()
        print(g_loss, d_loss)
""",
)
program(
    "gan in the shape of dcgan",
    "E E F",
    """
    optimizerD = SGD(netD.parameters(), lr=0.01)
    optimizerG = SGD(netG.parameters(), lr=0.01)
    for epoch in range(2):
        for i, data in enumerate(loader, 0):
            netD.zero_grad()
            real = data[0] * 1.5
            label = Tensor(1)
            output = netD(real)
            errD_real = criterion(output, label)
            errD_real.backward()
            D_x = output.mean().item()
            noise = data[1] + 0.5
            fake = netG(noise)
            label.fill_(0)
            output = netD(fake.detach())
            errD_fake = criterion(output, label)
            errD_fake.backward()
            D_G_z1 = output.mean().item()
            errD = errD_real + errD_fake
            optimizerD.step()
            netG.zero_grad()
            label.fill_(1)
            output = netD(fake)
            errG = criterion(output, label)
            errG.backward()
            D_G_z2 = output.mean().item()
            optimizerG.step()
            print(errD.item(), errG.item(), D_x, D_G_z1, D_G_z2)
""",
)
program(
    "both optimizers reset at the top",
    "F F",
    """
    optimizerD = SGD(netD.parameters(), lr=0.01)
    optimizerG = SGD(netG.parameters(), lr=0.01)
    for real, z in loader:
        optimizerD.zero_grad()
        optimizerG.zero_grad()
        d_loss = criterion(netD(real), 1) + criterion(netD(netG(z).detach()), 0)
        d_loss.backward()
        optimizerD.step()
        g_loss = criterion(netD(netG(z)), 1)
        g_loss.backward()
        optimizerG.step()
        print(d_loss, g_loss)
""",
)
program(
    "function called by the forward pass",
    "A",
    """
    optimizer = SGD(model.parameters())
    def loss_of(batch):
        return criterion(model(batch[0]), batch[1])
    for batch in loader:
        optimizer.zero_grad()
        loss = loss_of(batch)
        loss.backward()
        optimizer.step()
""",
)
program(
    "two loops in one scope",
    "A A",
    """
    optimizer = SGD(model.parameters())
    opt = SGD(net.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
    for data, target in loader:
        opt.zero_grad()
        loss = criterion(net(data), target)
        loss.backward()
        opt.step()
    print(loss)
""",
)
program(
    "names already in use",
    "A",
    """
    optimizer = SGD(model.parameters())
    forward_fn, grad_fn, grads = 1, 2, 3
    for data, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
    print(forward_fn, grad_fn, grads)
""",
)
program(
    "environment steps",
    "A",
    """
    class Env:
        def step(self, action=None):
            print('env', action)
    env = Env()
    optimizer = SGD(model.parameters())
    for data, target in loader:
        env.reset = 1
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
""",
)
program(
    "closure over the loop's epoch",
    "A",
    """
    optimizer = SGD(model.parameters())
    for epoch in range(2):
        scale = 1.0 / (epoch + 1)
        for data, target in loader:
            optimizer.zero_grad()
            loss = criterion(model(data), target) * scale
            loss.backward()
            optimizer.step()
            print(epoch, loss)
""",
)


program(
    "same optimizer in two loops",
    "A A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
    for data, target in loader:
        loss = criterion(model(data * 2), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss)
""",
)
program(
    "names bound in an inner loop and elsewhere",
    "A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        optimizer.zero_grad()
        for k in range(2):
            out = model(data + k)
        loss = criterion(out, target)
        loss.backward()
        optimizer.step()
    for k in range(2):
        out = model(k)
        print(out)
""",
)


program(
    "gan with a helper that resets both",
    "F F",
    """
    optimizerD = SGD(netD.parameters(), lr=0.01)
    optimizerG = SGD(netG.parameters(), lr=0.01)
    def reset_grad():
        optimizerD.zero_grad()
        optimizerG.zero_grad()
    for real, z in loader:
        outputs = netD(real)
        d_loss_real = criterion(outputs, 1)
        fake = netG(z)
        outputs = netD(fake)
        d_loss_fake = criterion(outputs, 0)
        d_loss = d_loss_real + d_loss_fake
        reset_grad()
        d_loss.backward()
        optimizerD.step()
        fake = netG(z * 2)
        outputs = netD(fake)
        g_loss = criterion(outputs, 1)
        reset_grad()
        g_loss.backward()
        optimizerG.step()
        print(d_loss, g_loss, outputs)
""",
)


program(
    "one forward pass, updates with and without scaler",
    "C1",
    """
    use_amp = False
    def run_batch(source, target, optimizer, train):
        loss = criterion(model(source), target)
        if train:
            optimizer.zero_grad()
            if use_amp:
                scaler.scale(loss).backward()
                clip_grad_norm_(model.parameters(), 0.5)
                scaler.step(optimizer)
                scaler.update()
            else:
                loss.backward()
                clip_grad_norm_(model.parameters(), 0.7)
                optimizer.step()
        return loss.item()
    optimizer = SGD(model.parameters())
    for epoch in range(3):
        use_amp = epoch == 1
        for data, target in loader:
            print(run_batch(data, target, optimizer, epoch != 2))
""",
)
program(
    "update in the else part",
    "B3",
    """
    optimizer = SGD(model.parameters())
    for i, (data, target) in enumerate(loader):
        loss = criterion(model(data), target)
        if i == 1:
            print('evaluated', loss)
        else:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
""",
)


program(
    "forward pass in a with block, update under a condition",
    "C1",
    """
    optimizer = SGD(model.parameters())
    for phase in ['train', 'val', 'train']:
        for data, target in loader:
            optimizer.zero_grad()
            with autocast():
                out = model(data)
                loss = criterion(out, target)
            if phase == 'train':
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
            print(phase, loss, out)
""",
)


program(
    "a second loss now and then",
    "D D",
    """
    optimizer = SGD(model.parameters())
    for i, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        if i % 2:
            loss_more = criterion(model(data * 2), target)
            loss_more.backward()
            print('more', loss_more)
        optimizer.step()
        print(loss)
""",
)
program(
    "nothing but a sum of parts of the loss",
    "A",
    """
    optimizer = SGD(model.parameters())
    for data, target in loader:
        parts = [criterion(model(data * k), target) for k in (1, 2)]
        optimizer.zero_grad()
        sum(parts).backward()
        optimizer.step()
        print(parts[0])
""",
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_rewritten_program_runs_as_before(name: str) -> None:
    shapes, source = PROGRAMS[name]
    units = check(source)
    assert " ".join(unit.shape for unit in units) == shapes
