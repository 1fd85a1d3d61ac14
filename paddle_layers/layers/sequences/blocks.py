"""Layers made of layers, for sequences: attention with maps around it, windows of rows."""

from paddle_layers.define import Bool, Choice, Example, Float, Input, Int, Output, String, body, layer, require


@layer("transformer_block", since=1)
class TransformerBlock:
    """Attention of a sequence to itself, then two maps of every row, each with a way around it (Vaswani et al. 2017).

    `s = x + merge(attention(norm(x)))`, `y = s + narrow(gelu(wide(norm(s))))`

    The rows are brought to one size before the parts and not behind them, which trains more steadily. Places in the
    sequence are not known to it: put `position_embedding` or `sinusoidal_position` before the first block.
    """

    x = Input("T:S C", "rows of sequences", seq=(1,))
    y = Output("T:S C", "same shape as `x`")
    num_heads = Int("parts into which the columns are cut", default=1, min=1)
    hidden = Int("columns between the two maps; when absent: four times those of `x`", min=1, optional=True)
    causal = Bool("a row sees itself and the rows before it only", default=False)
    norm = Choice(
        "how rows are brought to one size",
        options={"LAYER_NORM": "mean 0 and variance 1", "RMS_NORM": "mean of the squares 1"},
        default="LAYER_NORM",
    )
    drop_rate = Float("share of what each part adds that is set to zero while training", default=0.0, min=0, below=1)
    examples = (
        Example(x="sequence of 4", num_heads=2),
        Example(x="sequence of 2", hidden=3, causal=True, norm="RMS_NORM"),
        Example(x="sequence of 2", hidden=2, drop_rate=0.5),
    )


@body(TransformerBlock)
def transformer_block_body(net, x, num_heads, hidden, causal, norm, drop_rate, C):
    require(C % num_heads == 0, "num_heads", f"{C} columns cannot be cut into {num_heads} heads")
    normed = net.layer_norm if norm == "LAYER_NORM" else net.rms_norm
    look = normed(x, name="look")
    query = net.fc(look, size=C, name="query")
    keys = net.fc(look, size=C, bias=False, name="keys")
    values = net.fc(look, size=C, bias=False, name="values")
    heads = net.multi_head_attention(query, keys, values, num_heads=num_heads, causal=causal, name="heads")
    merged = net.fc(heads, size=C, drop_rate=drop_rate, name="merge")
    seen = net.addto(x, merged, name="seen")
    think = normed(seen, name="think")
    wide = net.fc(think, size=4 * C if hidden is None else hidden, act="gelu", name="wide")
    narrow = net.fc(wide, size=C, drop_rate=drop_rate, name="narrow")
    return net.addto(seen, narrow, name="sum")


@layer("sequence_conv_pool", elsewhere={"Paddle": "sequence_conv_pool"}, since=1)
class SequenceConvPool:
    """Features of short runs of rows, the strongest of each sequence: `context`, `fc`, then a pool over the rows.

    It is a convolution over a sequence, as for the sentiment of a text. Of nested sequences each sample becomes a row.
    """

    x = Input("T:S C", "rows of sequences", seq=(1, 2))
    y = Output("R K", "one row per sequence")
    size = Int("number of features", min=1, axis="K", aliases=("hidden_size",))
    context_len = Int("rows of a run", min=1, max=1024)
    context_start = Int(
        "first row of a run, counted from the row itself; when absent: the run lies around it", optional=True
    )
    fc_act = String("elementwise layer applied to the features", default="tanh")
    pool_type = Choice(
        "what is kept of a feature", options={"MAX": "the largest", "AVERAGE": "the mean"}, default="MAX"
    )
    examples = (
        Example(x="sequence of 2", size=3, context_len=3),
        Example(x="sequence of 3", size=2, context_len=2, context_start=0, fc_act="relu", pool_type="AVERAGE"),
        Example(x="nested sequence of 1", size=2, context_len=2),
    )


@body(SequenceConvPool)
def sequence_conv_pool_body(net, x, size, context_len, context_start, fc_act, pool_type):
    runs = net.context(x, length=context_len, start=context_start, name="context")
    features = net.fc(runs, size=size, act=fc_act, name="features")
    pool = net.seq_max_pool if pool_type == "MAX" else net.seq_avg_pool
    return pool(features, name="pool")


@layer("simple_attention", elsewhere={"Paddle": "simple_attention"}, since=1)
class SimpleAttention:
    """Mean of the rows of a sequence, weighted by how well they fit a state (Bahdanau, Cho and Bengio 2015).

    `score[t] = v . tanh(projected[t] + W state)`, the weights are the softmax of the scores of a sequence, and
    `y = sum_t weight[t] * encoded[t]`. `projected` is a map of `encoded` that is the same in every step of a
    decoder, so it is made outside of the step, by an `fc` without a bias.
    """

    encoded = Input("T:S C", "what is to be read", seq=(1,))
    projected = Input("T:S D", "what each row is found by", seq=(1,))
    state = Input("S E", "what is looked for, such as the state of a decoder")
    y = Output("S C", "what was read, a row per sequence")
    examples = (
        Example(encoded="sequence of 3", projected="sequence of 2", state="4"),
        Example(encoded="sequence of 1", projected="sequence of 1", state="1"),
    )


@body(SimpleAttention)
def simple_attention_body(net, encoded, projected, state, D):
    wanted = net.fc(state, size=D, bias=False, name="transform")
    spread = net.expand(wanted, projected, name="spread")
    fit = net.addto(projected, spread, act="tanh", name="fit")
    scores = net.fc(fit, size=1, bias=False, name="scores")
    weights = net.sequence_softmax(scores, name="weights")
    weighted = net.scaling(weights, encoded, name="weighted")
    return net.seq_avg_pool(weighted, strategy="SUM", name="read")
