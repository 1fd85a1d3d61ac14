"""Composite layers for sequences: Transformer block, sequence convolution, additive attention."""

from paddle_layers.define import Bool, Choice, Example, Float, Input, Int, Output, String, body, layer, require


@layer(
    "transformer_block",
    terms=(
        "Transformer block",
        "Transformer encoder layer",
        "TransformerEncoderLayer",
        "self-attention block",
        "GPT block",
    ),
    since=1,
)
class TransformerBlock:
    """Pre-norm Transformer block: multi-head self-attention and a position-wise feed-forward network.

    `s = x + out_proj(attention(norm1(x)))`, `y = s + ffn_out(gelu(ffn_in(norm2(s))))`

    Each of the two has a residual connection (Vaswani et al. 2017), and is preceded by the normalization (pre-norm),
    which trains more stably than post-norm. The block has no positional encoding: add `position_embedding` or
    `sinusoidal_position` before the first block.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1,))
    y = Output("T:S C", "same shape as `x`")
    num_heads = Int("number of attention heads", default=1, min=1)
    hidden = Int(
        "hidden size of the feed-forward network; if absent, four times the width of `x`", min=1, optional=True
    )
    causal = Bool("causal mask: a position attends only to itself and earlier positions", default=False)
    norm = Choice(
        "type of normalization",
        options={"LAYER_NORM": "layer normalization", "RMS_NORM": "root mean square normalization"},
        default="LAYER_NORM",
    )
    drop_rate = Float("dropout rate of the attention and feed-forward outputs", default=0.0, min=0, below=1)
    examples = (
        Example(x="sequence of 4", num_heads=2),
        Example(x="sequence of 2", hidden=3, causal=True, norm="RMS_NORM"),
        Example(x="sequence of 2", hidden=2, drop_rate=0.5),
    )


@body(TransformerBlock)
def transformer_block_body(net, x, num_heads, hidden, causal, norm, drop_rate, C):
    require(C % num_heads == 0, "num_heads", f"{C} columns cannot be cut into {num_heads} heads")
    normalize = net.layer_norm if norm == "LAYER_NORM" else net.rms_norm
    norm1 = normalize(x, name="norm1")
    query = net.fc(norm1, size=C, name="query")
    # No bias of the keys: it adds the same to all scores of a query, and the softmax cancels it. That of the values
    # would be added to every output, as the bias of `out_proj` is.
    key = net.fc(norm1, size=C, bias=False, name="key")
    value = net.fc(norm1, size=C, bias=False, name="value")
    heads = net.multi_head_attention(query, key, value, num_heads=num_heads, causal=causal, name="attention")
    attention = net.fc(heads, size=C, drop_rate=drop_rate, name="out_proj")
    residual = net.addto(x, attention, name="residual1")
    norm2 = normalize(residual, name="norm2")
    inner = net.fc(norm2, size=4 * C if hidden is None else hidden, act="gelu", name="ffn_in")
    outer = net.fc(inner, size=C, drop_rate=drop_rate, name="ffn_out")
    return net.addto(residual, outer, name="residual2")


@layer(
    "sequence_conv_pool",
    elsewhere={"Paddle": "sequence_conv_pool"},
    terms=("convolution over a sequence", "text convolution", "text CNN"),
    since=1,
)
class SequenceConvPool:
    """Convolution over a sequence followed by pooling over its steps: `context`, `fc`, then a pool.

    Used for text classification, such as sentiment analysis (text CNN). For nested sequences the output is one vector
    per sample.
    """

    x = Input("T:S C", "sequences of feature vectors", seq=(1, 2))
    y = Output("R K", "one vector per sequence")
    size = Int("number of output features", min=1, axis="K", aliases=("hidden_size",))
    context_len = Int("window length", min=1, max=1024)
    context_start = Int("start of the window relative to the current step; if absent, centered", optional=True)
    fc_act = String("activation of the features", default="tanh")
    pool_type = Choice(
        "type of pooling over the steps", options={"MAX": "maximum", "AVERAGE": "average"}, default="MAX"
    )
    examples = (
        Example(x="sequence of 2", size=3, context_len=3),
        Example(x="sequence of 3", size=2, context_len=2, context_start=0, fc_act="relu", pool_type="AVERAGE"),
        Example(x="nested sequence of 1", size=2, context_len=2),
    )


@body(SequenceConvPool)
def sequence_conv_pool_body(net, x, size, context_len, context_start, fc_act, pool_type):
    windows = net.context(x, length=context_len, start=context_start, name="context")
    features = net.fc(windows, size=size, act=fc_act, name="features")
    pool = net.seq_max_pool if pool_type == "MAX" else net.seq_avg_pool
    return pool(features, name="pool")


@layer(
    "simple_attention",
    elsewhere={"Paddle": "simple_attention"},
    terms=("Bahdanau", "additive attention", "Bahdanau attention"),
    since=1,
)
class SimpleAttention:
    """Additive (Bahdanau) attention: the weighted average of encoder outputs for a decoder state.

    `score[t] = v . tanh(projected[t] + W state)`, the weights are the softmax of the scores of a sequence, and
    `y = sum_t weight[t] * encoded[t]` (Bahdanau, Cho and Bengio 2015). `projected` is a projection of `encoded` by an
    `fc` without a bias, which is the same in all steps of a decoder, so it is computed outside of the step.
    """

    encoded = Input("T:S C", "encoder outputs", seq=(1,))
    projected = Input("T:S D", "keys", seq=(1,))
    state = Input("S E", "decoder state (query)")
    y = Output("S C", "context vector, one per sequence")
    examples = (
        Example(encoded="sequence of 3", projected="sequence of 2", state="4"),
        Example(encoded="sequence of 1", projected="sequence of 1", state="1"),
    )


@body(SimpleAttention)
def simple_attention_body(net, encoded, projected, state, D):
    query = net.fc(state, size=D, bias=False, name="query")
    query = net.expand(query, projected, name="expanded_query")
    hidden = net.addto(projected, query, act="tanh", name="hidden")
    # A bias would add the same to all scores of a sequence and cancel in the softmax.
    scores = net.fc(hidden, size=1, bias=False, name="scores")
    weights = net.sequence_softmax(scores, name="weights")
    weighted = net.scaling(weights, encoded, name="weighted")
    return net.seq_avg_pool(weighted, strategy="SUM", name="context")
