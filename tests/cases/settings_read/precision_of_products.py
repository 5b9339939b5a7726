"""The precision of matrix products as a setting."""

from torch import get_float32_matmul_precision, set_float32_matmul_precision

print(get_float32_matmul_precision())
set_float32_matmul_precision("high")
print(get_float32_matmul_precision())
for wanted in ("medium", "highest"):
    set_float32_matmul_precision(wanted)
    print(get_float32_matmul_precision() == wanted)
