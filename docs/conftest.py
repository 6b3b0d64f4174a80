"""The doctests of this folder are in its pages."""

collect_ignore_glob = ["*.py", "_build/*", "generated/*"]
