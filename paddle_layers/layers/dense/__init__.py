"""Dense layers, products, normalizations and reshaping of feature vectors."""
