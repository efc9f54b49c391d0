"""What the exact algorithms share: the distance matrix, and sums over it that are carried from step to step."""
