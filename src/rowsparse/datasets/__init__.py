"""Datasets: files, named real sets, and synthetic data with a known answer."""

from rowsparse.datasets.base import Dataset, DatasetError, Reading
from rowsparse.datasets.files import load_file
from rowsparse.datasets.registry import dataset_names, load_any, load_dataset
from rowsparse.datasets.remote import fetch_dataset
from rowsparse.datasets.synthetic import make_row_sparse

__all__ = [
    "Dataset",
    "DatasetError",
    "Reading",
    "dataset_names",
    "fetch_dataset",
    "load_any",
    "load_dataset",
    "load_file",
    "make_row_sparse",
]
