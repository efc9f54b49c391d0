"""PairedPAM's machinery: references in levels, stored distances, paired differences and their bounds.

Imports ``exact``, ``bandit``, ``core`` and what is below these.
"""
