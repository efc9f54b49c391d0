"""A headless Chromium, if there is one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    names = ("chromium", "chromium-browser", "google-chrome")
    binary = next((path for name in names if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        reason = "no Chromium with its driver here; on Debian: apt install chromium chromium-driver"
        if os.environ.get("CI"):
            raise FileNotFoundError(reason)
        pytest.skip(reason)
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
        f"--user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chromium = webdriver.Chrome(options=options, service=Service(driver))
    yield Page(chromium)
    chromium.quit()


class Page:
    """A page in the browser: opened with a colour scheme and a width, with its log and its requests."""

    def __init__(self, chromium: Any) -> None:
        self.chromium = chromium

    def open(self, path: Path, *, width: int = 1200, scheme: str = "light", medium: str = "screen") -> None:
        from selenium.webdriver.support.wait import WebDriverWait

        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": features})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.chromium.get_log("performance")
        self.chromium.get(path.as_uri())
        # On a busy machine, the driver has returned before a large page was parsed.
        WebDriverWait(self.chromium, 60).until(lambda _: self.run("return document.readyState") == "complete")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.chromium.execute_script(script, *arguments)

    def count(self, selector: str) -> int:
        return int(self.run("return document.querySelectorAll(arguments[0]).length", selector))

    def errors(self) -> list[str]:
        return [entry["message"] for entry in self.chromium.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses requested since `open`, except the page itself."""
        import json

        events = [json.loads(entry["message"])["message"] for entry in self.chromium.get_log("performance")]
        asked = [
            event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked if not url.startswith(("data:", "file:", "chrome:"))]
