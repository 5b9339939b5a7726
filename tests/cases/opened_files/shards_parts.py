import json

from safetensors import safe_open


class Shards:
    def __init__(self, index):
        with open(index) as f:
            self.index = json.load(f)

    def names(self):
        return self.index.keys()

    def get(self, name):
        with safe_open(self.index[name], framework="pt", device="cpu") as f:
            return f.get_tensor(name)

    def total(self):
        count = 0
        for path in sorted(set(self.index.values())):
            with safe_open(path, "pt") as f:
                for key in f.keys():
                    count += f.get_tensor(key).numel()
        return count
