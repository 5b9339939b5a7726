"""Datasets of images that programs ask for by name; written in the package ``image_sets``.

Nothing is downloaded: where files are missing, the error names them.
"""

from __future__ import annotations

from .image_sets.annotated import *
from .image_sets.archives import *
from .image_sets.arrays import *
from .image_sets.base import *
from .image_sets.captions import *
from .image_sets.categories import *
from .image_sets.folders import *
from .image_sets.lists import *
from .image_sets.planes import *
from .image_sets.scenes import *
