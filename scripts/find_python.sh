#!/bin/sh
# Print a Python that MindSpore 2.10 and the pinned packages run on (3.10 to 3.12, 3.11 first), or fail and say so.
for candidate in python3.11 python3.12 python3.10 python3 python; do
    # "command -v" is not enough: a version manager leaves commands that only fail
    if "$candidate" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' >/dev/null 2>&1; then
        echo "$candidate"
        exit 0
    fi
done
echo "torch2ms needs Python 3.10, 3.11 or 3.12; none was found. Install one, or name it: make PYTHON=/path/to/python" >&2
exit 1
