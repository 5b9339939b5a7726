"""Spectra of signals: transforms, shifts and windows, without gradients."""
import torch


def spectrum(signal, n=None):
    return torch.fft.rfft(signal, n=n, norm="ortho").abs()


signal = torch.sin(torch.arange(16.0) * 0.7) + 0.5 * torch.cos(torch.arange(16.0) * 2.1)
print(spectrum(signal).tolist())
print(torch.fft.irfft(torch.fft.rfft(signal), n=16).sub(signal).abs().max().item() < 1e-5)
image = signal.view(4, 4)
print(torch.fft.fftshift(torch.fft.fft2(image)).abs().sum().item(), torch.fft.ifftn(torch.fft.fftn(image)).real.sum().item())
print(torch.fft.fftfreq(4, d=0.5).tolist(), torch.fft.hfft(torch.fft.ihfft(signal)).sum().item())
