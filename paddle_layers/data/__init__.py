"""Sources of data and transforms."""

from .batches import Batches, Position
from .columns import SequenceColumn, SparseColumn
from .dataset import Dataset
from .feeds import Feed, make_feeds
from .problems import DataError
from .streams import Stream

__all__ = [
    "Batches",
    "DataError",
    "Dataset",
    "Feed",
    "Position",
    "SequenceColumn",
    "SparseColumn",
    "Stream",
    "make_feeds",
]
