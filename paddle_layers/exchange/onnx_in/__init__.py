"""ONNX import: model file, symbolic values, layers, report."""
