"""Class weights."""

from paddle_layers.define import Example, Floats, Input, Int, Output, each, infer, layer, onnx, require


@layer(
    "class_weight",
    terms=("class weight", "class weights", "imbalanced data"),
    since=1,
)
class ClassWeight:
    """Class weight of each label, for the input `weight` of a loss.

    `y = weights[label]` for each sample, or for each pixel if labels have axes, and 0 for a label that is
    `ignore_label` or outside the classes. Used for imbalanced data, to increase the weight of rare classes. The losses
    of `softmax_with_loss` and `cross_entropy` are then sums of weighted terms divided by the number of labels, not by
    the sum of the weights: with a mean weight of 1 the size of the loss is unchanged, as with
    `labels / (classes * labels of the class)`. PyTorch and ONNX divide by the weights.
    """

    label = Input("N ...", "class of each sample or pixel", kinds=("INT",), seq=(0, 1, 2))
    y = Output("N ...", "class weight of each label")
    weights = Floats("weight of each class, in the order of the ids")
    ignore_label = Int("labels of this class have weight 0", optional=True)
    examples = (
        Example(label="ids<2", weights=[0.5, 2.0], ignore_label=-1),
        Example(label="sequence of ids<3", weights=[1.0, 0.0, 4.5]),
        Example(label="2x3 ids<3", weights=[0.25, 1.0, 2.0]),
    )


@infer(ClassWeight)
def class_weight_count(label, weights):
    found = f"there are {len(weights)} weights, but {label.size} classes"
    require(len(weights) == label.size, "weights", found)
    return {}


@each(ClassWeight.y)
def class_weight_y(n, i, label, weights, ignore_label):
    weight = 0.0
    # No index by the label, which may be outside the classes.
    for k in range(len(weights)):
        if label[n, i] == k and (ignore_label is None or k != ignore_label):
            weight = weights[k]
    return weight


@onnx(ClassWeight)
def class_weight_onnx(graph, label, weights, ignore_label):
    known = [0.0 if k == ignore_label else float(weight) for k, weight in enumerate(weights)]
    classes = graph.Equal(graph.Unsqueeze(label, [-1]), list(range(len(known))))
    return graph.MatMul(graph.Cast(classes, to=1), known)
