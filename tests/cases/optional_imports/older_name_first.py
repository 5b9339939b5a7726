import torch

try:
    from torch.legacy_fft_module import rfft  # never was
except ImportError:

    def rfft(x):
        return torch.fft.rfft(x)


if tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (1, 8):
    from torch.fft import irfft
else:

    def irfft(x, n=None):
        raise NotImplementedError(n)


try:
    import apex

    fused = apex is not None
except ImportError:
    apex = None
    fused = False

x = torch.tensor([1.0, 2.0, 0.5, -1.0])
spectrum = rfft(x)
print([round(v, 4) for v in torch.view_as_real(spectrum).flatten().tolist()])
print(irfft(spectrum, 4).tolist(), fused)
