"""What scikit-learn's tools need: scorers, splitters, a ranker that is tuned like a regressor."""
