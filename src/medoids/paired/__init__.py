"""PairedPAM's machinery: references in levels, stored distances, paired differences and their bounds."""
