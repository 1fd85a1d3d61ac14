"""Schedule of a phase: functions, their order and their buffers, for the forward pass and the required gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from paddle_layers.define import ShapeError
from paddle_layers.runtime.graph.graph import DynamicRows, Graph, Op
from paddle_layers.runtime.launches.arguments import Held, Ref
from paddle_layers.runtime.launches.buffers import Buffer, Storage
from paddle_layers.runtime.launches.launch import Launch, buffers_of
from paddle_layers.runtime.launches.step_launches import lagging, loop_bounds
from paddle_layers.runtime.passes.buffer_reuse import take_over
from paddle_layers.runtime.passes.cache_blocked_fusion import fuse_blocks, group_launches
from paddle_layers.runtime.passes.chunked_cross_entropy import find_chunked_losses
from paddle_layers.runtime.passes.elision import elide_concat, elide_copies, eliminate_dead_code
from paddle_layers.runtime.passes.epilogues import fuse_epilogues
from paddle_layers.runtime.passes.kernel_fusion import fuse_kernels
from paddle_layers.runtime.passes.optimizer_in_backward import Updates, insert_updates
from paddle_layers.runtime.passes.parameter_caching import kept_results, take_parameter_only
from paddle_layers.runtime.passes.rematerialization import rematerialize

from .all_reduce import Join, joins_of, places_of
from .backward_pass import BackwardPass
from .forward_pass import ForwardPass
from .workspace import Workspace


class LaunchSchedule:
    """The launches of one phase. The backward pass starts at `output_gradients`; if empty, there is no backward pass.

    Output gradients without a weight are written by the caller; the others are losses with their weight. With
    `updates` the backward pass changes the parameters, whose gradients cannot be read then. With `divisors_only` the
    forward pass computes the divisors of the losses and nothing else: no output, no statistic, no state.
    """

    def __init__(
        self,
        graph: Graph,
        dtype: str,
        *,
        training: bool,
        output_gradients: Mapping[str, float | None],
        keep: Sequence[str],
        device: str = "cpu",
        updates: Updates | None = None,
        divisors_only: bool = False,
    ) -> None:
        chunked = find_chunked_losses(graph, keep, dtype)
        workspace = Workspace(graph, dtype, training=training, device=device, chunked=chunked)
        forward = ForwardPass(workspace)
        backward = BackwardPass(workspace, output_gradients, forward.scores)
        # After both passes: only the index arrays that some launch reads get memory.
        workspace.keep_indices()
        self.graph, self.dtype, self.device, self.index_arrays = graph, dtype, device, workspace.index_arrays
        self.forward, self.backward, self.stats = forward.launches, backward.launches, forward.stats
        self.moving_states = forward.moving_states
        self.values, self.gradients, self.sparse_gradients = (
            workspace.values,
            backward.gradients,
            backward.sparse_gradients,
        )
        self.kept, self.results, self.divisors = workspace.kept, workspace.results, workspace.divisors
        self.decisive = {
            made.op: {name: workspace.scope(made.op).tensors[name][0] for name in made.temps}
            for made in graph.dynamic_rows
        }
        """Temporaries by name that say how many rows an operation makes."""
        self.results += [self.values[name] for name in keep if graph.values[name].entries is None]
        self.results += [self.gradients[name] for name in keep if name in self.gradients]
        if divisors_only:
            self._limit_to_divisors()
        joins = joins_of(workspace)
        self._shorten([buffer for join in joins for buffer in join.targets.values()])
        self.updates = updates
        if updates is not None:
            self.backward = insert_updates(self.backward, updates, dtype)
        self._order(joins, training=training)
        if divisors_only:
            self._drop_unread_feeds()

    def _limit_to_divisors(self) -> None:
        """Drops all results but the divisors, and the updates of states, which belong to the training pass."""
        self.results, self.stats, self.moving_states = [*self.divisors.values()], [], []
        self.index_arrays.ids.clear()  # they are read for the backward pass
        self.forward = [launch for launch in self.forward if not _writes_state(launch)]

    def _drop_unread_feeds(self) -> None:
        """Reserves no memory for feeds, such as images, that the remaining launches do not read."""
        feeds, self.kept = self.kept, []
        read = {*self._read_outside(), *(buffer for launch in self.forward for buffer in launch.reads)}
        self.kept = [buffer for buffer in feeds if buffer in read]
        self.values = {name: buffer for name, buffer in self.values.items() if buffer in read}

    def _shorten(self, joined: Sequence[Buffer]) -> None:
        """Removes or fuses launches; `joined` are buffers that are reduced over processes."""
        passes, device = (self.forward, self.backward), self.device
        # In the order of `passes.PASSES`, which explains it.
        eliminate_dead_code(reversed(passes), self._read_outside())
        self.copies = elide_copies(passes, self._read_outside(), self.kept)
        """Buffers that are one memory with what they would be copied from."""
        # What lives until the end of the pass anyway may be read again at no cost in memory.
        kept = [*self.kept, *self.results, *self.index_arrays.kept]
        self.recomputed = rematerialize(*passes, [*self._read_outside(), *joined], kept, self.dtype)
        """Results that the backward pass computes again, in other buffers."""
        fuse_kernels(passes, self._read_outside(), device)
        self.parts = elide_concat(passes, self.kept, device)
        """Buffers that are parts of others into which they would be copied."""

    def _order(self, joins: Sequence[Join], *, training: bool) -> None:
        """Reorders launches for cache-blocked fusion, and determines where a pass has to stop."""
        # In training every step changes the parameters.
        constants = [] if training else take_parameter_only(self.forward)
        if not training:
            fuse_epilogues(self.forward, constants, self._read_outside(), self.device)
        self.constants = len(constants)
        """So many launches at the beginning of the forward pass depend on parameters only."""
        stops = late_stops(self.graph, self.forward, self._decisive_buffers)
        self.joins = [places_of(joins, launches) for launches in (self.forward, self.backward)]
        """Reductions over processes that share a batch, in both passes, and the launch before each."""
        cuts = [[at for at, _ in placed] for placed in self.joins]
        # Reductions and stops are between two launches: neither side may move across.
        forward = group_launches(self.forward, [*cuts[0], *(at for at, _ in stops)], self.device)
        self.forward = [*constants, *forward]
        self.joins[0] = [(at + self.constants, join) for at, join in self.joins[0]]
        self.stops = [(at + self.constants, made) for at, made in stops]
        """Rows that depend on values of the pass, and the launch before which they are made."""
        self.backward = group_launches(self.backward, cuts[1], self.device)

    def _decisive_buffers(self, op: Op) -> list[Buffer]:
        """Buffers of temporaries that determine the row count of an operation."""
        return [ref.owner for ref in self.decisive[op].values() if isinstance(ref.owner, Buffer)]

    def _read_outside(self) -> list[Buffer]:
        """Buffers that are read outside of the launches, or in another step than the one that writes them."""
        late = [value for made in self.graph.dynamic_rows if made.late for value in made.values.values()]
        read = [*self.results, *self.kept, *self.index_arrays.at_boundary, *(self.values[value.name] for value in late)]
        read += [buffer for op in self.decisive for buffer in self._decisive_buffers(op)]
        return [*read, *lagging([*self.forward, *self.backward])]

    def _kept_constants(self) -> list[Buffer]:
        return kept_results(self.forward[: self.constants], [*self.forward, *self.backward], self._read_outside())

    def lay_out(self) -> list[Storage]:
        """Memory planning: buffers share memory by their lifetimes."""
        launches = [*self.forward, *self.backward]
        # `mark` first: it records the lifetimes from which the decisions follow.
        takeovers = [takeover for at, launch in enumerate(launches) for takeover in launch.mark(at)]
        joins = [*self.joins[0], *((at + len(self.forward), join) for at, join in self.joins[1])]
        self._mark_other_uses(launches, joins)
        outside = [*self.kept, *self.index_arrays.kept, *self._kept_constants()]
        for buffer in outside:
            buffer.keep()
        for buffer in self.results:
            buffer.keep_result()
        aliases = [*self.copies, *self.parts, *(part.root for part in self.parts)]
        storages = take_over((*buffers_of(launches), *aliases, *outside, *self.results), takeovers)
        # After the takeovers, since it compares memory and not buffers; it extends lifetimes, so offsets are assigned
        # last.
        fuse_blocks(
            launches, [self.constants, len(self.forward), *(at for at, _ in (*self.stops, *joins))], self.device
        )
        return storages

    def _mark_other_uses(self, launches: Sequence[Launch], joins: Sequence[tuple[int, Join]]) -> None:
        """Records buffer uses that no single launch shows: throughout a loop, and between launches."""
        for first, last in loop_bounds(launches):  # what one step uses, the next one uses again
            for buffer in buffers_of(launches[first:last]):
                buffer.use(first)
                buffer.use(last - 1)
        for buffer in self.index_arrays.at_boundary:
            buffer.use(len(self.forward))
        for at, made in self.stops:
            for value in made.values.values():
                self.values[value.name].use(at)
            for buffer in self._decisive_buffers(made.op):
                buffer.use(at)
        for at, join in joins:
            for buffer in join.targets.values():
                buffer.use(at - 1)
                buffer.use(at)


def _writes_state(launch: Launch) -> bool:
    target = launch.args[0]
    return isinstance(target, Ref) and isinstance(target.owner, Held)


def late_stops(
    graph: Graph, forward: Sequence[Launch], decisive: Callable[[Op], Sequence[Buffer]]
) -> list[tuple[int, DynamicRows]]:
    """For rows that depend on values of the pass: the first launch that may need them. Raises `ShapeError`.

    `decisive` gives the buffers of the operation's own temporaries that determine the row count.
    """
    order = {op.name: number for number, op in enumerate(graph.ops)}
    stops = []
    for made in (made for made in graph.dynamic_rows if made.computed):
        name = made.op.name
        if made.op.steps is not None:
            raise ShapeError(
                f"layer `{name}`: its row count depends on values computed by previous steps; "
                "move it after the recurrent group"
            )
        later = (at for at, launch in enumerate(forward) if order[launch.op] >= order[name])
        own = set(decisive(made.op))
        behind = [at + 1 for at, launch in enumerate(forward) if own.intersection(launch.writes)]
        stops.append((max([next(later, len(forward)), *behind]), made))
    return stops
