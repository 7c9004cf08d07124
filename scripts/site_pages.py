"""Pages of the site that nobody writes: references of Python and of the shell, bibliography, papers of the root.

MkDocs calls the functions named `on_…` (see `hooks` in mkdocs.yml). What they make is complete by construction: the
door of the package, the table of commands and the bibliography are read, and each of their entries gets its place.
"""

from __future__ import annotations

import base64
import html
import inspect
import json
import posixpath
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import deniable

ROOT = Path(__file__).parents[1]
BIBLIOGRAPHY = ROOT / "docs" / "theory" / "references.bib"
REPORT = (
    ROOT / "reproduced" / "report.html"
)  # of `deniable-papers all --out reproduced`, which takes minutes
KEY = re.compile(r"(?<!\])\[([A-Z][A-Za-z]*\d{2}[a-z]?)\](?![(\[:])")

PAPERS = {  # files of the root that are pages, too
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "examples/README.md": "examples/index.md",
}
EXAMPLES = (
    "*.ipynb",
    "*.py",
    "*.toml",
)  # which lie beside their list, to be downloaded

ROOMS = {  # in the order in which they are used; a room that is not listed comes after them, under its own name
    "verbs": "The steps: respond, tally, estimate",
    "designs": "Designs",
    "estimates": "Estimates and results",
    "tallies": "Tallies and columns of responses",
    "documents": "Documents",
    "plan": "Planning",
    "fieldkit": "Field kits",
    "simulate": "Simulation",
    "criteria": "Privacy criteria",
    "order": "Order of designs, and ladders",
    "responses": "Responses in stages",
    "records": "Numbers, strings, items and graphs",
    "release": "Ledgers, panels and markets",
    "survey": "Surveys",
    "client": "Clients of a collector",
    "certificates": "Certificates",
    "auditor": "Auditing",
    "attacks": "Attacks",
    "report": "Words and pictures",
    "engines": "Engines",
    "errors": "Errors",
}


def rooms() -> dict[str, list[tuple[str, str, object]]]:
    """Each room with its public names: as people write them, where they are defined, and what they are."""
    found: dict[str, list[tuple[str, str, object]]] = {room: [] for room in ROOMS}
    for name, home in deniable._EXPORTS.items():
        if home == f"deniable.{name}":
            found.setdefault(name, []).extend(_namespace(f"dn.{name}", home))
        else:
            thing = getattr(deniable, name)
            found.setdefault(home.split(".")[1], []).append(
                (f"dn.{name}", _home(thing, f"{home}.{name}"), thing)
            )
    return {room: names for room, names in found.items() if names}


def _namespace(told: str, module: str) -> Iterator[tuple[str, str, object]]:
    """The names of a namespace such as `dn.plan`, and of the modules in it."""
    room = import_module(module)
    for name in getattr(room, "__all__", None) or _defined(room):
        thing = getattr(room, name)
        if isinstance(thing, ModuleType):
            yield from _namespace(f"{told}.{name}", thing.__name__)
        else:
            yield f"{told}.{name}", _home(thing, f"{module}.{name}"), thing


def _defined(module: ModuleType) -> list[str]:
    """The public classes and functions that a module without `__all__` defines."""
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and getattr(thing, "__module__", None) == module.__name__
    ]


def _home(thing: object, otherwise: str) -> str:
    """Where a class or a function is defined; everything else is where it is offered."""
    if inspect.isclass(thing) or inspect.isfunction(thing):
        return f"{thing.__module__}.{thing.__qualname__}"
    return otherwise


def room_page(room: str, names: list[tuple[str, str, object]]) -> str:
    """The reference of one room: its names in a list, then each with what mkdocstrings reads in the source."""
    lines = (
        [] if room != "verbs" else ["---", "search:", "  boost: 4", "---"]
    )  # who searches a verb wants this page
    lines += [
        f"# {_title(room)}",
        "",
        f"{_sentence(import_module(f'deniable.{room}'))}",
        "",
    ]
    once = {home: (told, thing) for told, home, thing in reversed(names)}
    once = dict(reversed(once.items()))
    lines += ["| name | what it is |", "| --- | --- |"]
    lines += [
        f"| [`{told}`](#{home}) | {_sentence(thing)} |"
        for home, (told, thing) in once.items()
    ]
    for home, (told, thing) in once.items():
        if inspect.isclass(thing) or inspect.isfunction(thing):
            lines += [
                "",
                f"::: {home}",
                "    options:",
                f'      heading: "{told}"',
                f'      toc_label: "{told.removeprefix("dn.")}"',
            ]
        else:
            lines += ["", f"## {told} {{#{home}}}", "", _sentence(thing) + "."]
    return "\n".join(lines) + "\n"


def _sentence(thing: object) -> str:
    """The first sentence of a docstring, fit for a cell of a table."""
    if not (
        isinstance(thing, ModuleType)
        or inspect.isclass(thing)
        or inspect.isfunction(thing)
    ):
        return f"`{thing}`".replace("|", "\\|")
    paragraph = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", "\\|")


def api_index(found: dict[str, list[tuple[str, str, object]]]) -> str:
    """The start of the reference of Python."""
    lines = [
        "# Python reference",
        "",
        "`import deniable as dn` is all that is needed: every name below is a name of `dn`, or of one of its",
        "namespaces. This reference is made from the source, and a test holds that no public name is missing.",
        "",
        "| | names |",
        "| --- | --- |",
    ]
    for room, names in found.items():
        listed = ", ".join(
            f"[`{told.removeprefix('dn.')}`]({room}.md#{home})"
            for told, home, _ in names
        )
        lines.append(f"| [{_title(room)}]({room}.md) | {listed} |")
    return "\n".join(lines) + "\n"


def commands() -> dict[str, Any]:
    """The commands of the shell, by name."""
    from deniable.cli.commands import COMMANDS, command_of

    return {name: command_of(name) for name in COMMANDS}


def command_page(name: str, command: Any) -> str:
    """The reference of one command with its subcommands, as `--help` tells them."""
    lines: list[str] = []
    for path, each in walk(f"deniable {name}", command):
        context = _context(each, path)
        depth = 1 if path == f"deniable {name}" else 2
        usage = " ".join([path, *each.collect_usage_pieces(context)])
        lines += [
            f"{'#' * depth} {path} {{#{path.replace(' ', '-')}}}",
            "",
            _paragraphs(each.help),
            "",
            f"    {usage}",
            "",
        ]
        shown = [
            record
            for record in (
                param.get_help_record(context) for param in each.get_params(context)
            )
            if record
        ]
        options = [(left, right) for left, right in shown if "--help" not in left]
        if options:
            lines += ["| option | what it does |", "| --- | --- |"]
            lines += [
                f"| <code>{_cell(left)}</code> | {_cell(right)} |"
                for left, right in options
            ]
            lines.append("")
        if hasattr(each, "list_commands"):
            subs = [
                (sub, each.get_command(context, sub))
                for sub in each.list_commands(context)
            ]
            lines += ["| command | what it does |", "| --- | --- |"]
            lines += [
                f"| [`{sub}`](#{path.replace(' ', '-')}-{sub}) | {_cell((one.help or '').partition(chr(10) * 2)[0])} |"
                for sub, one in subs
            ]
            lines.append("")
    return "\n".join(lines) + "\n"


def walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """A command and everything below it, with the words that are typed."""
    yield path, command
    if hasattr(command, "list_commands"):
        context = _context(command, path)
        for name in command.list_commands(context):
            yield from walk(f"{path} {name}", command.get_command(context, name))


def _context(command: Any, path: str) -> Any:
    return command.context_class(command, info_name=path)


def _cell(text: str) -> str:
    return (
        " ".join(text.split())
        .replace("|", "&#124;")
        .replace("<", "&lt;")
        .replace("*", "\\*")
    )


def _paragraphs(text: str | None) -> str:
    return "\n\n".join(
        " ".join(each.split())
        for each in (text or "").replace("\b", "").split("\n\n")
    ).replace("<", "&lt;")


def cli_index(found: dict[str, Any]) -> str:
    """The start of the reference of the shell."""
    from deniable.cli.commands import COMMANDS, EPILOG

    lines = [
        "# Shell reference",
        "",
        "`deniable COMMAND -h` prints the same. Completion for bash, zsh and fish:",
        "`deniable --install-completion bash`, or `deniable --show-completion bash` to read it first",
        "([how](../../shell.md)).",
        "",
        "| command | what it does |",
        "| --- | --- |",
    ]
    lines += [
        f"| [`deniable {name}`]({name}.md) | {COMMANDS[name][1]} |" for name in found
    ]
    return "\n".join([*lines, "", _paragraphs(EPILOG), ""])


def bibliography() -> str:
    """The works that pages and docstrings cite by a key such as [War65]."""
    lines = ["# Works that are cited", ""]
    text = BIBLIOGRAPHY.read_text(encoding="utf-8")
    for key, body in re.findall(
        r"^@\w+\{(\w+),\n(.*?)^\}", text, flags=re.MULTILINE | re.DOTALL
    ):
        fields = {
            name: _plain(value)
            for name, value in re.findall(
                r"^\s*(\w+)\s*=\s*\{(.*)\},?$", body, re.MULTILINE
            )
        }
        where = next(
            (
                fields[each]
                for each in ("journal", "booktitle", "school", "publisher", "note")
                if each in fields
            ),
            "",
        )
        authors = fields["author"].replace(" and ", "; ")
        lines += [
            f'- <a id="{key}"></a>**[{key}]** {authors}: *{fields["title"]}*. {where}, {fields["year"]}.'
        ]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """BibTeX without its braces."""
    return (
        text.replace("{", "").replace("}", "").replace("--", "–").replace("\\&", "&")
    )


def paper(name: str) -> str:
    """A file of the root as a page: what it links inside docs/ is beside it now."""
    text = (ROOT / name).read_text(encoding="utf-8")
    text = text.replace("](docs/", "](")
    for file, page in PAPERS.items():
        text = text.replace(f"]({file}", f"]({page}")
    return text


def notebook_page(path: Path) -> str:
    """A notebook as a page, with the outputs that are stored in it; the notebook itself can be downloaded."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = [part for cell in cells for part in _cell_parts(cell)]
    first = next(at for at, part in enumerate(parts) if part.startswith("# "))
    title, _, rest = parts[first].partition("\n")
    download = f"[Download this notebook]({path.name}){{ download }}, or [see all examples](index.md)."
    return (
        "\n\n".join(
            [*parts[:first], title, download, rest.strip(), *parts[first + 1 :]]
        )
        + "\n"
    )


def _cell_parts(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source.replace("](../docs/", "](../")
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        shown = output.get("data", {"text/plain": output.get("text", "")})
        text = {kind: "".join(each) for kind, each in shown.items()}
        if (
            "image/svg+xml" in text
        ):  # as a picture, so that names within one do not meet those of another
            packed = base64.b64encode(text["image/svg+xml"].encode()).decode()
            yield f'<img class="notebook" alt="What this cell draws" src="data:image/svg+xml;base64,{packed}">'
        elif "text/html" in text:
            yield f'<div class="notebook">{" ".join(text["text/html"].split())}</div>'
        elif text.get("text/plain", "").strip():
            yield f'<pre class="notebook">{html.escape(text["text/plain"].rstrip())}</pre>'.replace(
                "\n\n", "\n&#8203;\n"
            )


def notebooks() -> dict[str, Path]:
    """Every notebook, by the place of its page."""
    return {
        f"examples/{path.stem}.md": path
        for path in sorted((ROOT / "examples").glob("*.ipynb"))
    }


def pages() -> dict[str, str]:
    """Every page that is made, by its place below docs/."""
    found, typed = rooms(), commands()
    made = {
        "reference/python/index.md": api_index(found),
        "reference/shell/index.md": cli_index(typed),
    }
    made |= {
        f"reference/python/{room}.md": room_page(room, names)
        for room, names in found.items()
    }
    made |= {
        f"reference/shell/{name}.md": command_page(name, command)
        for name, command in typed.items()
    }
    made["theory/references.md"] = bibliography()
    made |= {
        page: paper(name) for name, page in PAPERS.items() if (ROOT / name).exists()
    }
    made |= {place: notebook_page(path) for place, path in notebooks().items()}
    return made


def _rooms_and_commands() -> str:
    """Both references in one list, for the page above them."""
    from deniable.cli.commands import COMMANDS

    lines = ["", "## Python", "", "[All names on one page](python/index.md)", ""]
    lines += [f"- [{_title(room)}](python/{room}.md)" for room in rooms()]
    lines += ["", "## Shell", "", "[All commands on one page](shell/index.md)", ""]
    lines += [
        f"- [`deniable {name}`](shell/{name}.md): {words}"
        for name, (_, words) in COMMANDS.items()
    ]
    return "\n".join(lines) + "\n"


def _title(room: str) -> str:
    return ROOMS.get(room, room.replace("_", " ").capitalize())


def linked(markdown: str, place: str) -> str:
    """A page's text with its citations linked, and links to files of the root led to their pages."""
    up = posixpath.relpath(".", posixpath.dirname(place) or ".")
    bibliography_at = posixpath.normpath(posixpath.join(up, "theory/references.md"))
    for file, page in PAPERS.items():
        away = posixpath.normpath(posixpath.join(up, "..", file))
        markdown = markdown.replace(
            f"]({away}", f"]({posixpath.normpath(posixpath.join(up, page))}"
        )
    away, here = (
        posixpath.normpath(posixpath.join(up, *each, "examples"))
        for each in (("..",), ())
    )
    markdown = markdown.replace(f"]({away}/", f"]({here}/")
    if place == "theory/references.md" or place in notebooks():
        return markdown
    for page, path in notebooks().items() if place == "examples/index.md" else ():
        markdown = markdown.replace(
            f"]({path.name})", f"]({posixpath.basename(page)})"
        )
    if place == "reference/index.md":
        markdown += _rooms_and_commands()
    if place == "guides/reproduce.md" and REPORT.exists():
        markdown = markdown.replace(
            "\n\n",
            "\n\n**[The whole report, with its figures](report.html)**\n\n",
            1,
        )
    markdown = markdown.replace("references.bib)", "references.md)")
    parts = re.split(
        r"(^```.*?^```$|^(?: {4}.*\n?)+|`[^`\n]+`)",
        markdown,
        flags=re.MULTILINE | re.DOTALL,
    )
    parts[::2] = [
        KEY.sub(lambda key: f"[\\[{key[1]}\\]]({bibliography_at}#{key[1]})", part)
        for part in parts[::2]
    ]
    return "".join(parts)


# What MkDocs calls.


def on_config(config: Any) -> Any:
    """Put the pages that are made where the navigation says `(reference)`."""
    reference = {
        "Python": [
            "reference/python/index.md",
            *(f"reference/python/{room}.md" for room in rooms()),
        ],
        "Shell": [
            "reference/shell/index.md",
            *(f"reference/shell/{name}.md" for name in commands()),
        ],
    }
    for section in config.nav:
        for title, entries in section.items():
            if title == "Reference":
                section[title] = [
                    entries[0],
                    *({key: pages} for key, pages in reference.items()),
                    *entries[1:],
                ]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add what is made."""
    from mkdocs.structure.files import File

    for place, text in pages().items():
        files.append(File.generated(config, place, content=text))
    for path in (
        path for kind in EXAMPLES for path in sorted((ROOT / "examples").glob(kind))
    ):
        files.append(
            File.generated(
                config,
                f"examples/{path.name}",
                content=path.read_text(encoding="utf-8"),
            )
        )
    if REPORT.exists():
        files.append(
            File.generated(
                config,
                "guides/report.html",
                content=REPORT.read_text(encoding="utf-8"),
            )
        )
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Link citations and files of the root."""
    return linked(markdown, page.file.src_uri)


SECTION = re.compile(
    r'(<nav class="md-nav" data-md-level="\d+" )aria-labelledby="(__nav_\w+)_label"'
    r'([^>]*>\s*<label class="md-nav__title" for="\2">\s*<span class="md-nav__icon md-icon"></span>\s*)([^<]*?)(\s*<)'
)


def on_post_page(output: str, **_: Any) -> str:
    """Name what the theme leaves without a name for those who listen: sections of the navigation, and the search."""
    output = SECTION.sub(r'\1aria-label="\4"\3\4\5', output)
    return output.replace(
        'data-md-component="search" role="dialog"',
        'data-md-component="search" role="dialog" aria-label="Search"',
    )


def on_post_build(config: Any) -> None:
    """Take addresses out of the theme's script that it would load things from: nothing of the site asks the network."""
    for script in Path(config.site_dir, "assets", "javascripts").glob("bundle.*.js"):
        text = re.sub(
            r"https://unpkg\.com/[\w@./-]+",
            "about:blank",
            script.read_text(encoding="utf-8"),
        )
        script.write_text(text, encoding="utf-8")
    for trace in Path(config.site_dir).rglob("*.map"):
        trace.unlink()
