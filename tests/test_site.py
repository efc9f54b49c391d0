"""What the documentation site relies on, without building it: `make docs` does that, and runs the gallery."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

import medoids

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))
SCRIPTS = sorted((ROOT / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("module", ["medoids", "medoids.plot", "medoids.dask", "medoids.datasets"])
def test_every_public_name_is_in_the_reference(module: str) -> None:
    if module == "medoids.dask":
        pytest.importorskip("distributed")
    listed = set(re.findall(r"^   ([\w.]+)$", (DOCS / "api.md").read_text(), re.MULTILINE))
    prefix = module.removeprefix("medoids").removeprefix(".")
    names = {f"{prefix}.{name}".removeprefix(".") for name in importlib.import_module(module).__all__}
    assert names - listed - {"__version__", "plot"} == set(), "add them to docs/api.md"
    strangers = {name for name in listed if name.rpartition(".")[0] == prefix} - names
    assert not strangers, "docs/api.md lists names that are not public"


def test_the_gallery_has_a_script_for_each_kind_of_data() -> None:
    assert 12 <= len(SCRIPTS) <= 20
    for script in SCRIPTS:
        tree = ast.parse(script.read_text())
        title, line = (ast.get_docstring(tree) or "").splitlines()[:2]
        assert line == "=" * len(title), f"{script.name} has no title"
        source = script.read_text()
        assert "from medoids import" in source
        assert "plt.show()" in source
        assert "fetch_" not in source, f"{script.name} must not need the network"


@pytest.mark.parametrize(
    "page", [*sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("notes/*.md"))], ids=lambda path: path.name
)
def test_links_of_a_page_lead_to_files(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^()\s]+)\)", text):
        path = link.partition("#")[0]
        if not path or re.match(r"[a-z]+:", path) or path.startswith(("gallery/", "api/")):
            continue
        assert (page.parent / path).exists(), f"{page.name} links to {link}"


def test_links_to_files_become_links_to_pages() -> None:
    pages = importlib.import_module("pages")
    text = "[a](../GLOSSARY.md#arm) [b](scale.md) [c](../LICENSE) [d](https://example.org) `[e](x)`"
    assert pages.rewritten(text, DOCS / "algorithm.md", "algorithm") == (
        f"[a](pages/glossary.md#arm) [b](scale.md) [c]({pages.HOME}/LICENSE) [d](https://example.org) `[e](x)`"
    )
    assert pages.rewritten("[a](docs/cli.md)", ROOT / "CONTRIBUTING.md", "pages/contributing") == "[a](../cli.md)"
    nested = pages.rewritten("[![p](docs/report.png)](docs/cli.md)", ROOT / "CONTRIBUTING.md", "pages/contributing")
    assert nested.endswith("](../cli.md)")
    code = "```python\nx[i](y.md)\n```"
    assert pages.rewritten(code, DOCS / "cli.md", "cli") == code


def test_a_new_page_is_listed_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = importlib.import_module("pages")
    (tmp_path / "index.md").write_text("# Home\n\n```{toctree}\nlisted\nOther name <named>\n```\n")
    for name in ("listed", "named", "brand-new"):
        (tmp_path / f"{name}.md").write_text("# Title\n")
    monkeypatch.setattr(pages, "DOCS", tmp_path)
    assert pages.unlisted() == "brand-new"


def test_the_site_knows_address_and_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"{project['urls']['Homepage']}/blob/main" == importlib.import_module("pages").HOME
    assert f'"github_url": "{project["urls"]["Homepage"]}"' in (DOCS / "conf.py").read_text()
    assert f"{{{medoids.__version__}}}" in (DOCS / "cite.md").read_text()
