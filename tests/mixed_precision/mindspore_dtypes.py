"""Write the type that the translated autocast gives every operation: python mindspore_dtypes.py FOLDER OUT.json."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main() -> None:
    """Compute everything by the list of CPUs, and by that of accelerators, whose kernels are the CPU's here."""
    sys.path.insert(0, sys.argv[1])
    import mindspore as ms
    import operations
    from torch2ms_runtime import amp

    found = {}
    for device in ("cpu", "cuda"):
        amp.is_accelerated = lambda device=device: device == "cuda"
        with amp.autocast(device, dtype=ms.float16):
            made = operations.compute(operations.inputs(), operations.layers())
            found[device] = {name: str(function().dtype).lower() for name, function in made.items()}
    Path(sys.argv[2]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
