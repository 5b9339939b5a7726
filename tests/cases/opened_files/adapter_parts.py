from safetensors import safe_open


class Adapter:
    def __init__(self, path):
        with safe_open(path, framework="pt", device="cpu") as f:
            told = f.metadata() or {}
            self.rank, self.alpha = int(told["rank"]), float(told["alpha"])
            self.tensors = {k: f.get_tensor(k) for k in f.keys() if k.startswith("lora.")}

    def names(self):
        return sorted(k.split(".")[1] for k in self.tensors)

    def delta(self):
        up, down = self.tensors["lora.up"], self.tensors["lora.down"]
        return (up @ down) * (self.alpha / self.rank)
