# SPDX-License-Identifier: Apache-2.0
"""What stands in a cell, and a section of the report: blocks that go to the Markdown file and to the page alike."""
from side import measures, page
from side.measures import overhead, tdi


def number(x, digits=4):
    return "" if x is None else f"{x:.{digits}f}"


def seconds(x):
    if x is None:
        return ""
    return f"{x:.2f}" if x < 10 else f"{x:.0f}"


def is_optimal(r):
    return r["status"].startswith("optimal") and r["key"]["method"] not in ("keep",)


def cell(r):
    """TDI, * where the method itself proved it, and (seconds to it / seconds in all); else why there is none."""
    if r is None:
        return ""
    if r.get("valid"):
        return (f"{overhead(r):.4f}{'*' if is_optimal(r) else ''} ({seconds(measures.time_of_best(r))} / "
                f"{seconds(r['seconds'])} s)")
    if r.get("verdict"):
        return f"{r['verdict']}; TDI {tdi(r['duration'], r['base']):.1f}"
    return short(r)


def short(r):
    status = r["status"]
    if status.startswith("time") or status in ("nothing found", "unknown"):
        where = status.partition("(")[2].rstrip(")")
        where = "" if where.startswith("killed") or not where else where + ", "
        return f"nothing ({where}{seconds(r['seconds'])} s)"
    if status.startswith("not applicable"):
        return "n/a: " + status.partition(": ")[2]
    if "memory" in status:
        return f"{status.partition(',')[0]} after {seconds(r['seconds'])} s"
    return status


def markdown_table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(c).replace("|", "/") for c in row) + " |" for row in rows]


class Section:
    """Blocks that go to the Markdown file and to the page alike."""

    def __init__(self, title):
        self.title, self.markdown, self.html = title, [], []

    def text(self, *lines):
        self.markdown += [*lines, ""]
        self.html.append("<p>" + page.html.escape(" ".join(lines)) + "</p>")

    def table(self, head, rows, only_page=False):
        rows = [list(r) for r in rows]
        if not rows:
            return
        if not only_page:
            self.markdown += markdown_table(head, rows) + [""]
        self.html.append(page.table(head, rows))

    def picture(self, svg):
        self.html.append(svg)
