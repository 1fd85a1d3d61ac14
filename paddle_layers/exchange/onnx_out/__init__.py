"""ONNX export: the layers' own functions add the nodes, this package the rest."""
