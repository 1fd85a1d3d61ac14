"""The guide "Every layer of Paddle, Caffe, Mocha and KUnet" is complete, and its links have valid targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import paddle_layers as pl
from paddle_layers.define.definitions.search import NO_LAYER

DOCS = Path(__file__).resolve().parents[2] / "docs" / "explanations"
GUIDE = DOCS / "paddle-caffe-mocha-kunet.md"
ROWS = [
    row for row in re.findall(r"^\| (.*) \| (.*) \|$", GUIDE.read_text("utf-8"), re.MULTILINE) if row[0] != "original"
]
LINK = re.compile(r"\]\(([^)#]+)(?:#([^)]+))?\)")

NAMES = {
    "Paddle": """
        addto agent auc-validation average batch_norm bilinear_interp blockexpand clip concat concat2 conv conv3d
        conv_3d conv_shift convex_comb convt cos cos_vm crf crf_decoding crop cross_entropy_over_beam ctc
        cudnn_batch_norm cudnn_conv cudnn_convt data data_norm deconv3d depthwise_conv detection_output dot_prod
        eos_id exconv exconvt expand factorization_machine fc featmap_expand gated_recurrent gather_agent get_output
        gru_step hsigmoid huber huber_classification huber_regression interpolation kmax_seq_score l2_distance
        lambda_cost lstm_step lstmemory max maxid maxout mdlstmemory mixed mkl_packed_recurrent mkldnn_addto
        mkldnn_batch_norm mkldnn_concat mkldnn_conv mkldnn_fc mkldnn_lrn mkldnn_pool mul_value
        multi-class-cross-entropy multi_binary_label_cross_entropy multi_class_cross_entropy_with_selfnorm
        multibox_loss multiplex nce norm normalize out_prod pad pixel_softmax pnpair-validation pool pool3d power
        prelu print priorbox rank-cost recurrent recurrent_layer_group resize roi_pool rotate row_conv row_l2_norm
        sampling_id scale_shift scale_sub_region scaling scatter_agent selective_fc seq_slice seqconcat seqfirstins
        seqlastins seqreshape sequence_agent sequence_gather_agent sequence_scatter_agent slope_intercept smooth_l1
        soft_binary_class_cross_entropy spp square_error sub_nested_seq subseq sum_cost sum_to_one_norm switch_order
        tensor trans upsample warp_ctc
    """,
    "Paddle projection": """
        context conv convt dot_mul fc identity identity_offset pool scaling slice table trans_fc
    """,
    "Paddle operator": """
        conv convt dot_mul
    """,
    "Paddle activation": """
        abs brelu exponential linear log reciprocal relu sequence_softmax sigmoid softmax softrelu softsign sqrt
        square stanh tanh
    """,
    "Caffe": """
        AbsVal Accuracy ArgMax BatchNorm BatchReindex Bias BNLL Clip Concat ContrastiveLoss Convolution Crop Data
        Deconvolution Dropout DummyData Eltwise ELU Embed EuclideanLoss Exp Filter Flatten HDF5Data HDF5Output
        HingeLoss Im2col ImageData InfogainLoss InnerProduct Input Log LRN LSTM LSTMUnit MemoryData
        MultinomialLogisticLoss MVN Parameter Pooling Power PReLU Python Recurrent Reduction ReLU Reshape RNN Scale
        Sigmoid SigmoidCrossEntropyLoss Silence Slice Softmax SoftmaxWithLoss Split SPP Swish TanH Threshold Tile
        WindowData
    """,
    "Mocha": """
        AccuracyLayer ArgmaxLayer AsyncHDF5DataLayer BinaryAccuracyLayer BinaryCrossEntropyLossLayer
        ChannelPoolingLayer ConcatLayer ConvolutionLayer CropLayer DropoutLayer ElementWiseLayer GaussianKLLossLayer
        HDF5DataLayer HDF5OutputLayer HingeLossLayer IdentityLayer Index2OnehotLayer InnerProductLayer LRNLayer
        MemoryDataLayer MemoryOutputLayer MultinomialLogisticLossLayer PoolingLayer PowerLayer RandomMaskLayer
        RandomNormalLayer ReshapeLayer SoftlabelSoftmaxLossLayer SoftmaxLayer SoftmaxLossLayer SplitLayer
        SquareLossLayer TiedInnerProductLayer WassersteinLossLayer
    """,
    "Mocha neuron": """
        Exponential Identity LReLU ReLU Sigmoid Tanh
    """,
    "KUnet": """
        Add2 Bias Conv Drop Kernel KPerceptron Logp LogpLoss Mmul Mul2 Perceptron PercLoss Poly Pool QuadLoss Rbfk
        Relu RNN ScalLoss Sigm Soft SoftLoss Tanh XentLoss
    """,
}
"""What was registered in Paddle 0.10 and 0.11, Caffe of 2020, Mocha of 2018 and KUnet of 2015, by their sources.

Kinds of a layer for one device or library begin with `cudnn_`, `mkldnn_` or `mkl_`.
"""


def listed() -> dict[str, set[str]]:
    """The names of the guide by system and, where it is no layer, what it is."""
    found: dict[str, set[str]] = {}
    for there, _ in ROWS:
        for part in there.split("; "):
            system, _, names = part.partition(" ")
            for name, kind in re.findall(r"`([^`]+)`(?: (\w+))?", names):
                found.setdefault(f"{system} {kind}".strip(), set()).add(name)
    return found


def test_there_are_190_rows_and_every_name_is_in_one():
    assert len(ROWS) == 190
    found = listed()
    assert {kind: set(names.split()) - found[kind] for kind, names in NAMES.items()} == {kind: set() for kind in NAMES}


GUIDES = ("paddle-caffe-mocha-kunet.md", "layer-combinations.md", "decoders-and-structured-losses.md")


def slug(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", GUIDES)
def test_every_link_leads_to_a_heading_or_an_attribute(page):
    for target, anchor in LINK.findall((DOCS / page).read_text("utf-8").replace("](#", f"]({page}#")):
        if "://" in target:
            continue
        text = (DOCS / target).read_text("utf-8")
        places = {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
        places |= set(re.findall(r'<a id="([^"]+)">', text))
        assert not anchor or anchor in places, f"{target}#{anchor}"


def test_a_row_leads_to_a_page_or_says_that_nothing_is_needed():
    assert [there for there, here in ROWS if not (LINK.search(here) or here.startswith("nothing:"))] == []


def test_the_layers_without_one_here_are_in_the_guide():
    found = listed()
    assert all(set(names) <= found[system] for system, names in NO_LAYER.items())


def test_a_name_in_a_network_file_is_answered():
    layers = {name for kind, names in NAMES.items() if " " not in kind for name in names.split()}
    for name in sorted(name for name in layers if not name.startswith(("cudnn_", "mkldnn_", "mkl_"))):
        if name in pl.registry:
            continue
        with pytest.raises(pl.ConfigError) as caught:
            pl.loads(f'layer {{ name: "x" type: "{name}" }}')
        (fault,) = caught.value.diagnostics
        answer = r"'s `[^`]+` is (called|the \w+ `|not a single layer here;)"
        assert re.search(answer, fault.help) or fault.help == f"did you mean `{name.lower()}`?", (name, fault.help)
