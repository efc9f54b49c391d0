"""Speed and memory, as ratios to peers measured in the same run: ``python -m benchmarks``, or ``make bench``."""
