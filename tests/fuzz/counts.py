"""What was tried, and how it ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Counts:
    """Tries by kind, by what was tried (an algorithm, a format, a signal) and by how they ended."""

    tries: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, kind: str, subject: str, end: str) -> None:
        self.tries[kind, subject, end] += 1

    def of_kind(self, kind: str) -> int:
        return sum(count for (own, _, _), count in self.tries.items() if own == kind)

    def take(self) -> Counter[tuple[str, str, str]]:
        """Return the counts so far, and begin again."""
        taken, self.tries = self.tries, Counter()
        return taken


COUNTS = Counts()
