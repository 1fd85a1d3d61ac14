"""Networks as ONNX files: the layers' own functions make the nodes, the rest is here."""
