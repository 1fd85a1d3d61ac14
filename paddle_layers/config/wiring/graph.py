"""Topological order and cycle detection, without recursion."""

from __future__ import annotations

import heapq
from collections.abc import Sequence


def order(needs: Sequence[Sequence[int]]) -> list[int]:
    """Vertices in topological order; ties are broken by number.

    Vertices on a cycle, and those that depend on them, are omitted.
    """
    users: list[list[int]] = [[] for _ in needs]
    missing = [0] * len(needs)
    for vertex, needed in enumerate(needs):
        for other in set(needed):
            users[other].append(vertex)
            missing[vertex] += 1
    ready = [vertex for vertex, count in enumerate(missing) if count == 0]
    done = []
    while ready:
        vertex = heapq.heappop(ready)
        done.append(vertex)
        for user in users[vertex]:
            missing[user] -= 1
            if missing[user] == 0:
                heapq.heappush(ready, user)
    return done


def cycles(needs: Sequence[Sequence[int]], among: Sequence[int]) -> list[list[int]]:
    """One short cycle for each strongly connected component among the given vertices, in the direction of data."""
    inside = set(among)
    found = []
    for component in _components(needs, inside):
        members = set(component)
        first = min(component)
        if len(component) > 1 or first in needs[first]:
            found.append(_cycle(needs, first, members))
    return sorted(found)


def _cycle(needs: Sequence[Sequence[int]], first: int, members: set[int]) -> list[int]:
    """A shortest cycle through `first`, found breadth first against the direction of data."""
    user: dict[int, int] = {}
    queue = [first]
    for vertex in queue:
        for other in needs[vertex]:
            if other == first:
                path = [vertex]
                while path[-1] != first:
                    path.append(user[path[-1]])
                return [first, *path[:-1]]
            if other in members and other not in user:
                user[other] = vertex
                queue.append(other)
    return [first]


def _components(needs: Sequence[Sequence[int]], inside: set[int]) -> list[list[int]]:
    """Tarjan's strongly connected components, with an explicit stack."""
    near = {vertex: [other for other in needs[vertex] if other in inside] for vertex in inside}
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[list[int]] = []
    for root in sorted(inside):
        work = [(root, 0)] if root not in index else []
        while work:
            vertex, at = work.pop()
            if at == 0:
                index[vertex] = low[vertex] = len(index)
                stack.append(vertex)
                on_stack.add(vertex)
            if at > 0:
                low[vertex] = min(low[vertex], low[near[vertex][at - 1]])
            while at < len(near[vertex]):
                other = near[vertex][at]
                at += 1
                if other not in index:
                    work.append((vertex, at))
                    work.append((other, 0))
                    break
                if other in on_stack:
                    low[vertex] = min(low[vertex], index[other])
            else:
                if low[vertex] == index[vertex]:
                    component: list[int] = []
                    while not component or component[-1] != vertex:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    found.append(component)
    return found
