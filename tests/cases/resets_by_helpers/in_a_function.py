# Everything stands in one function, the helper too; what it resets are weights of two kinds of networks.
import torch
import torch.nn as nn


def main():
    encoder, decoder, critic = nn.Linear(3, 2), nn.Linear(2, 3), nn.Linear(2, 1)
    parts = (encoder, decoder, critic)
    for part in parts:
        nn.init.constant_(part.weight, 0.25)
        nn.init.constant_(part.bias, 0.1)

    def clean():
        """Forget all gradients."""
        for part in parts:
            part.zero_grad()

    rebuild = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.02)
    judge = torch.optim.Adam(critic.parameters(), lr=0.02)
    x = torch.sin(torch.arange(12.0)).reshape(4, 3)
    for step in range(3):
        code = encoder(x)
        rebuilt = (decoder(code) - x).pow(2).mean() + 0.1 * critic(code).mean()
        rebuilt.backward()
        rebuild.step()
        clean()
        verdict = (critic(encoder(x)) - 1).pow(2).mean() + 0.01 * code.detach().pow(2).mean()
        verdict.backward()
        judge.step()
        clean()
        print(f"{rebuilt.item():.4f} {verdict.item():.4f}")


main()
