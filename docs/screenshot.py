"""Draw docs/report.png, the README's picture: the report that `make demo` writes, its top in light, its map in dark.

python docs/screenshot.py medoids-demo.html docs/report.png   (needs Chromium, its driver, selenium and Pillow)
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

# Of the page, and where its map begins.
WIDTH, HEIGHT, MAP = 1200, 1090, 1078


def pictures(page: Path) -> list[Image.Image]:
    """Return the page in both colour schemes."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--disable-background-networking",
    ):
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tempfile.mkdtemp()}")
    chromium = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    size = {"width": WIDTH, "height": MAP + HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    taken = []
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        chromium.get(page.resolve().as_uri())
        taken.append(Image.open(io.BytesIO(chromium.get_screenshot_as_png())).convert("RGB"))
    chromium.quit()
    return taken


def main(page: str, picture: str) -> None:
    light, dark = pictures(Path(page))
    both = Image.new("RGB", (2 * WIDTH, HEIGHT))
    both.paste(light.crop((0, 0, WIDTH, HEIGHT)), (0, 0))
    both.paste(dark.crop((0, MAP, WIDTH, MAP + HEIGHT)), (WIDTH, 0))
    small = both.resize((WIDTH, HEIGHT // 2), Image.Resampling.LANCZOS)
    small.quantize(256, kmeans=2, dither=Image.Dither.NONE).save(picture, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
