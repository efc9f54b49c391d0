"""Compare all fits, the sampling ones too, with those of another checkout.

``python -m golden.compare PATH`` from the folder ``tests``. Both run here, so that they use the same build of BLAS.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from golden.fits import FITS

HERE = Path(__file__).resolve().parent


def of(checkout: Path) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run(
        [sys.executable, str(HERE / "fits.py")], env=environment, capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    old, new = of(Path(sys.argv[1]).resolve()), of(HERE.parents[1])
    different = [name for name in FITS if old[name] != new[name]]
    for name in different:
        print(f"{name}:\n  there {old[name]}\n  here  {new[name]}")
    print(f"{len(FITS) - len(different)} of {len(FITS)} fits are the same in every step")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
