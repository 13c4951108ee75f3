"""Complementary pairs: the samples, or their groups, cut at random into two halves."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..targets import Target

Pair = tuple[np.ndarray, np.ndarray]


def complementary_pairs(
    target: Target, groups: Any, n_pairs: int, rng: np.random.RandomState
) -> list[Pair]:
    """Pairs of disjoint halves of equal size; of an odd number one sample is left out, another
    one each time. Classes are divided evenly; groups are kept together instead."""
    if groups is not None:
        return [_halves_of_groups(np.asarray(groups), rng) for _ in range(n_pairs)]
    codes = np.zeros(len(target.Y), dtype=int)  # numbers and labels: as if of one class
    if target.classes is not None:
        codes = target.codes
    _check_classes(codes)
    return [_stratified_halves(codes, rng) for _ in range(n_pairs)]


def _check_classes(codes: np.ndarray) -> None:
    smallest = np.bincount(codes).min()
    if smallest < 2:
        raise ValueError(
            f"Expected at least two samples of every class, one for each half, got {smallest} of "
            "some class; leave that class out or join it to another."
        )


def _stratified_halves(codes: np.ndarray, rng: np.random.RandomState) -> Pair:
    """Deal the samples, shuffled and ordered by class, alternately to the two halves."""
    order = rng.permutation(codes.size)
    if codes.size % 2:
        # the sample left out comes from a class that can spare one
        sizes = np.bincount(codes)
        can_spare = sizes[codes[order]] == sizes.max()
        order = np.delete(order, can_spare.argmax())
    # no class is always dealt first
    turns = rng.permutation(codes.max() + 1)
    by_turn = np.argsort(turns[codes[order]], kind="stable")
    order = order[by_turn]
    first = np.sort(order[0::2])
    second = np.sort(order[1::2])
    return first, second


def _halves_of_groups(groups: np.ndarray, rng: np.random.RandomState) -> Pair:
    different, codes = np.unique(groups, return_inverse=True)
    if different.size < 4:
        raise ValueError(
            f"Expected at least four groups, to cut them into two halves, got {different.size}; "
            "leave groups out."
        )
    order = rng.permutation(different.size)
    half = different.size // 2
    of_sample = codes.ravel()  # older NumPy keeps the shape of what it is given
    # of an odd number of groups the last in this order is left out
    first = np.isin(of_sample, order[:half])
    second = np.isin(of_sample, order[half : 2 * half])
    return np.flatnonzero(first), np.flatnonzero(second)
