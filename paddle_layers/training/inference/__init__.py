"""Use of a trained network: prediction, text generation, evaluation."""
