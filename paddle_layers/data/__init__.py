"""Sources of data and transforms."""

from .batches import Batches, Position
from .columns import SequenceColumn, SparseColumn
from .dataset import Dataset
from .feeds import Feed, make_feeds
from .problems import DataError
from .stored import BadRecords, StoredColumn
from .streams import Stream

__all__ = [
    "BadRecords",
    "Batches",
    "DataError",
    "Dataset",
    "Feed",
    "Position",
    "SequenceColumn",
    "SparseColumn",
    "StoredColumn",
    "Stream",
    "make_feeds",
]
