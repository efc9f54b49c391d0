"""PairedPAM's search."""
