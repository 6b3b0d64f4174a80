"""Ranked lists and TREC runs, brought to rows."""
