"""Pages of the site that live elsewhere in the repository, and links that work both there and on the site.

Markdown in the repository links to files, as readers of the repository expect. On the site, a link to a file that is a
page becomes a link to that page, and a link to any other file leads to the repository. Files outside of `docs` that are
pages, such as the changelog, are copied to `docs/pages` with their pictures at every build.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
HOME = "https://github.com/medoids/medoids/blob/main"

# Where a file of the repository is on the site, without ".md".
PLACES = {
    "GLOSSARY.md": "pages/glossary",
    "CONTRIBUTING.md": "pages/contributing",
    "CHANGELOG.md": "pages/changelog",
    "SECURITY.md": "pages/security",
    "README.md": "index",
    "r/README.md": "pages/r",
    "results/README.md": "pages/paper",
    **{
        str(path.relative_to(ROOT)): f"pages/benchmarks/{path.stem}"
        for path in sorted((ROOT / "benchmarks" / "results").glob("*.md"))
    },
}
# A fenced block, whose brackets are code; or the opening and the target of a link or picture.
_LINK = re.compile(
    r"^(?P<fence> *```+).*?^(?P=fence) *$|(?P<open>!?\[(?:[^\[\]]|\[[^\[\]]*\]\([^()]*\))*\]\()(?P<to>[^()\s]+)\)",
    re.S | re.M,
)


def rewritten(text: str, origin: Path, page: str) -> str:
    """Return Markdown of the file ``origin`` with links as the page ``page`` needs them."""

    def target(match: re.Match[str]) -> str:
        if match["fence"] is not None:
            return match[0]
        opening = _LINK.sub(target, match["open"]) if "](" in match["open"] else match["open"]
        return f"{opening}{_target(match['to'], origin, page, picture=opening.startswith('!['))})"

    return _LINK.sub(target, text)


def _target(link: str, origin: Path, page: str, *, picture: bool) -> str:
    if re.match(r"[a-z]+:|#", link):
        return link
    path, _, anchor = link.partition("#")
    file = Path(os.path.normpath(origin.parent / path))
    name = str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else ""
    anchor = f"#{anchor}" if anchor else ""
    if name in PLACES:
        place = f"{PLACES[name]}.md"
    elif file.is_relative_to(DOCS) and file.suffix == ".md" and file.exists():
        place = str(file.relative_to(DOCS))
    elif picture and file.exists() and not file.is_relative_to(DOCS):
        copy = DOCS / "pages" / "pictures" / f"{file.parent.parent.name}-{file.name}"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        place = str(copy.relative_to(DOCS))
    elif file.is_relative_to(DOCS):
        return link  # a picture of the site, or a page that a build writes: Sphinx warns if it is not there
    else:
        return f"{HOME}/{name}{anchor}"
    return os.path.relpath(place, Path(page).parent) + anchor


def copy_pages() -> None:
    """Write `docs/pages` anew, leaving files alone that have not changed."""
    written = set()
    for name, place in PLACES.items():
        if not place.startswith("pages/"):
            continue
        to = DOCS / f"{place}.md"
        to.parent.mkdir(parents=True, exist_ok=True)
        text = rewritten((ROOT / name).read_text(), ROOT / name, place)
        if not to.exists() or to.read_text() != text:
            to.write_text(text)
        written.add(to)
    for old in (DOCS / "pages").rglob("*.md"):
        if old not in written:
            old.unlink()


def unlisted() -> str:
    """Return the pages of `docs` that no list names, so that a new page is on the site as soon as it is written."""
    pages = {path.stem: path.read_text() for path in sorted(DOCS.glob("*.md"))}
    lists = "\n".join(re.findall(r"^```{toctree}$(.*?)^```$", "\n".join(pages.values()), re.S | re.M))
    listed = {re.sub(r".*<(.*)>", r"\1", line.strip()) for line in lists.splitlines()}
    return "\n".join(page for page in pages if page not in listed | {"index"})


def setup(app: Any) -> dict[str, Any]:
    def read(app: Any, page: str, source: list[str]) -> None:
        file = DOCS / f"{page}.md"
        if file.exists() and not page.startswith("pages/"):
            source[0] = rewritten(source[0], file, page).replace("(pages that no other list names)", unlisted())

    copy_pages()
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
