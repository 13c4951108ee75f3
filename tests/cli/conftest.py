import csv

import pytest

from rowsparse.datasets import make_row_sparse


@pytest.fixture(autouse=True)
def no_dataset_folder(monkeypatch):
    monkeypatch.delenv("ROWSPARSE_DATA", raising=False)
    monkeypatch.setattr("rowsparse.datasets.registry.fetched", dict)


@pytest.fixture
def table(tmp_path):
    """A csv file with three classes, 12 features, and the names of the 4 that matter."""
    X, y, support = make_row_sparse(90, 12, 4, 3, task="classification", random_state=0)
    path = tmp_path / "data.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["kind", *(f"f{j}" for j in range(12))])
        writer.writerows(
            [[["red", "green", "blue"][label], *row] for label, row in zip(y, X, strict=True)]
        )
    return path, {f"f{j}" for j in support}
