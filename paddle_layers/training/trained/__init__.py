"""What a trained network is used for: predictions, generated texts, evaluations."""
