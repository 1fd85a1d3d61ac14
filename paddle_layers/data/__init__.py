"""Data sources, transforms and batches."""

from .batching.batches import Batches, Position
from .batching.feeds import DataFeed, make_feeds
from .batching.streams import Stream
from .columns import SequenceColumn, SparseColumn
from .dataset import Dataset
from .lazy_columns import BadRecords, StoredColumn
from .problems import DataError, DataWarning

__all__ = [
    "BadRecords",
    "Batches",
    "DataError",
    "DataFeed",
    "DataWarning",
    "Dataset",
    "Position",
    "SequenceColumn",
    "SparseColumn",
    "StoredColumn",
    "Stream",
    "make_feeds",
]
