"""What a registry and a release rely on: one version, one address, links that lead somewhere, useful extras."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import medoids

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_one_version() -> None:
    changelog = re.search(r"^## \[(.+?)\] - (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    citation = (ROOT / "CITATION.cff").read_text()
    assert changelog is not None
    assert changelog[1] == medoids.__version__
    assert f"\nversion: {medoids.__version__}\ndate-released: {changelog[2]}\n" in citation
    assert f"\nVersion: {medoids.__version__}\n" in (ROOT / "r" / "DESCRIPTION").read_text()


def test_one_address() -> None:
    home = PROJECT["project"]["urls"]["Homepage"]
    assert all(url.startswith(home) for url in PROJECT["project"]["urls"].values())
    assert f'repository-code: "{home}"' in (ROOT / "CITATION.cff").read_text()


def test_links_of_the_readme_work_on_the_page_of_a_registry() -> None:
    """Relative ones become absolute, and each leads to a file that is there."""
    page = (ROOT / "README.md").read_text()
    links = [link for link in re.findall(r"\]\((.+?)\)", page) if not link.startswith(("http", "#"))]
    assert links
    for link in links:
        assert (ROOT / link.partition("#")[0]).exists(), link
    home = PROJECT["project"]["urls"]["Homepage"].removeprefix("https://github.com/")
    for rule in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        assert f"/{home}/" in rule["replacement"]
        page = re.sub(rule["pattern"], rule["replacement"], page)
    targets = re.findall(r"\]\((.+?)\)", page)
    assert all(target.startswith(("https://", "#")) for target in targets)
    pictures = re.findall(r"!\[[^\]]*\]\((.+?)\)", page)
    assert pictures
    assert all("raw.githubusercontent.com" in picture for picture in pictures)


def test_extras_add_something() -> None:
    def names(requirements: list[str]) -> set[str]:
        return {re.split(r"[\[<>=;~! ]", each)[0] for each in requirements}

    core = names(PROJECT["project"]["dependencies"])
    extras = PROJECT["project"]["optional-dependencies"]
    for extra, requirements in extras.items():
        assert requirements, f"the extra {extra} is empty"
        assert not names(requirements) & core, f"the extra {extra} repeats what is installed anyway"
    every = set(re.search(r"\[(.*)\]", extras["all"][0])[1].split(","))  # type: ignore[index]
    assert every == set(extras) - {"all", "bench", "docs"}
