# SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML page: tables, and pictures as inline SVG. Nothing is loaded from anywhere."""
import html
import math

COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#8e5aa8", "#b8860b", "#008b8b", "#d1495b", "#555555", "#6b8e23", "#c71585",
           "#4682b4", "#a0522d")
STYLE = """body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:76em;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid #ccc;padding:.25em .55em;text-align:right}
th{background:#f2f4f6}td:first-child,th:first-child{text-align:left}h2{margin-top:2em}svg{display:block;margin:.5em 0}
.scroll{overflow-x:auto}details{margin:.4em 0}"""


def table(head, rows):
    out = ["<div class=scroll><table><tr>", *(f"<th>{html.escape(str(h))}" for h in head), "</tr>"]
    for cells in rows:
        out += ["<tr>", *(f"<td>{html.escape(str(c))}" for c in cells), "</tr>"]
    return "".join(out) + "</table></div>"


def _ticks(low, high, logarithmic):
    if logarithmic:
        return [10.0**e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
                if low <= 10.0**e <= high * 1.0001]
    if high <= low:
        return [low]
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    step *= next(k for k in (1, 2, 2.5, 5, 10) if (high - low) / (step * k) <= 5)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def steps(title, x_name, y_name, lines, log_x=True, low_x=None):
    """Step curves. lines: (name, [(x, y)]); a value holds from its x on. At least one point in all."""
    lines = [(name, points) for name, points in lines if points]
    if not lines:
        return ""
    xs, ys = [x for _, ps in lines for x, _ in ps], [y for _, ps in lines for _, y in ps]
    low, high = (low_x if low_x is not None else min(xs)), max(xs)
    if log_x:
        low = max(low, 1e-3)
        high = max(high, low * 10)
    else:
        high = max(high, low + 1e-9)
    top = max(ys) or 1.0
    width, left, bottom = 560, 60, 220
    scale = (lambda x: math.log10(max(x, low) / low) / math.log10(high / low)) if log_x else (
        lambda x: (x - low) / (high - low))
    px, py = (lambda x: left + (width - left) * scale(x)), (lambda y: bottom - 195 * y / top)
    tall = max(262, 40 + 16 * len(lines))
    out = [f"<figure><figcaption>{html.escape(title)}</figcaption><svg width=860 height={tall} viewBox='0 0 860 {tall}' "
           f"role=img aria-label='{html.escape(title, quote=True)}' font-size=11 font-family='system-ui,sans-serif'>",
           f"<path d='M{left} 15V{bottom}H{width}' fill=none stroke='#333'/>"]
    for y in _ticks(0, top, False):
        out.append(f"<path d='M{left} {py(y):.1f}H{width}' stroke='#e4e4e4'/><text x={left - 5} y={py(y) + 4:.1f} "
                   f"text-anchor=end>{y:g}</text>")
    for x in _ticks(low, high, log_x):
        out.append(f"<path d='M{px(x):.1f} {bottom}v4' stroke='#333'/><text x={px(x):.1f} y={bottom + 16} "
                   f"text-anchor=middle>{x:g}</text>")
    out.append(f"<text x={width} y={bottom + 32} text-anchor=end>{html.escape(x_name)}</text>"
               f"<text x={left} y=10>{html.escape(y_name)}</text>")
    for k, (name, points) in enumerate(lines):
        colour = COLOURS[k % len(COLOURS)]
        dash = "" if k < len(COLOURS) else " stroke-dasharray='5 3'"
        path = f"M{px(points[0][0]):.1f} {py(points[0][1]):.1f}"
        path += "".join(f"H{px(x):.1f}V{py(y):.1f}" for x, y in points[1:])
        out.append(f"<path d='{path}' fill=none stroke='{colour}' stroke-width='1.8'{dash}/><circle "
                   f"cx={px(points[0][0]):.1f} cy={py(points[0][1]):.1f} r=2.5 fill='{colour}'/>"
                   f"<text x={width + 15} y={25 + 16 * k} fill='{colour}'>{html.escape(name)}{' (dashed)' if dash else ''}</text>")
    return "".join(out) + "</svg></figure>"


def page(title, facts, parts):
    """parts: (heading, [HTML])"""
    out = ["<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>",
           f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body><h1>{html.escape(title)}</h1><ul>"]
    out += [f"<li>{html.escape(f)}" for f in facts] + ["</ul>"]
    for heading, blocks in parts:
        out += [f"<h2>{html.escape(heading)}</h2>", *blocks]
    return "".join(out) + "</body></html>\n"
