"""Tuned kernels that are wrong on purpose, each in one way, of layers in wrong_layers_memory.py."""

from numba import njit

import paddle_layers as pl


def rows(N):
    return N


def elements(N, C):
    return N * C


@pl.tuned("wrong_tuned", "tuned_values_y", items=rows, work=elements)
@njit
def tuned_values_y(first, last, y, x, C):
    for n in range(first, last):
        for c in range(C):
            y[n, c] = 3 * x[n, c]


@pl.tuned("wrong_in_place", "in_place_y", items=rows, work=elements, in_place=True)
@njit
def in_place_y(first, last, y, x, C):
    for n in range(first, last):
        for c in range(C):
            y[n, c] = x[n, C - 1 - c]


@pl.tuned("wrong_tuned_border", "tuned_border_y", items=rows, work=elements)
@njit
def tuned_border_y(first, last, y, x, C):
    for n in range(first, last):
        for c in range(C - 1):
            y[n, c] = x[n, c] * 0.0


@pl.tuned("wrong_batch", "first_rows_y", items=rows, work=elements)
@njit
def first_rows_y(first, last, y, x, C):
    for n in range(first, min(last, 8)):
        for c in range(C):
            y[n, c] = x[n, c]


def columns(C):
    return C


@pl.tuned("wrong_runs", "runs_y", items=columns, runs=rows, work=elements)
@njit
def runs_y(first, last, y, x, N):
    for c in range(first, last):
        for n in range(N):
            y[n, c] = 2 * x[n, c]
