"""Measures, checked input and the metric functions."""
