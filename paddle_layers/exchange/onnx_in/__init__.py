"""Networks from ONNX models: the file, what its nodes mean, the layers they become, the report."""
