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
        tens = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        few = (1, 2, 5) if math.log10(high / low) < 2 else (1,)
        return [k * 10.0**e for e in tens for k in few if low * 0.9999 <= k * 10.0**e <= high * 1.0001]
    if high <= low:
        return [low]
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    step *= next(k for k in (1, 2, 2.5, 5, 10) if (high - low) / (step * k) <= 5)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def chart(title, x_name, y_name, lines, stairs=True, log_y=False, thin=()):
    """Curves over a logarithmic x. lines: (name, [(x, y)]); stairs: a value holds from its x on, else points are joined; thin:
    names that are drawn with a thin line. At least one point in all."""
    lines = [(name, points) for name, points in lines if points]
    if not lines:
        return ""
    xs, ys = [x for _, ps in lines for x, _ in ps], [y for _, ps in lines for _, y in ps]
    low = max(min(xs), 1e-3)
    high = max(max(xs), low * 10 if stairs else low * 1.0001)
    top = max(ys) or 1.0
    bottom_y = max(min(ys), 1e-9) if log_y else 0.0
    width, left, bottom = 560, 70, 220
    px = lambda x: left + (width - left) * math.log10(max(x, low) / low) / math.log10(high / low)
    share = (lambda y: math.log10(max(y, bottom_y) / bottom_y) / math.log10(max(top / bottom_y, 10))) if log_y else (lambda y: y / top)
    py = lambda y: bottom - 195 * share(y)
    tall = max(262, 40 + 16 * len(lines))
    out = [f"<figure><figcaption>{html.escape(title)}</figcaption><svg width='860' height='{tall}' viewBox='0 0 860 {tall}' "
           f"role='img' aria-label='{html.escape(title, quote=True)}' font-size='11' font-family='system-ui,sans-serif'>",
           f"<path d='M{left} 15V{bottom}H{width}' fill='none' stroke='#333'/>"]
    for y in _ticks(bottom_y, top, log_y):
        out.append(f"<path d='M{left} {py(y):.1f}H{width}' stroke='#e4e4e4'/><text x='{left - 5}' y='{py(y) + 4:.1f}' "
                   f"text-anchor='end'>{f'{y:,.0f}' if y >= 1000 else f'{y:g}'}</text>")
    for x in _ticks(low, high, True):
        out.append(f"<path d='M{px(x):.1f} {bottom}v4' stroke='#333'/><text x='{px(x):.1f}' y='{bottom + 16}' "
                   f"text-anchor='middle'>{x:g}</text>")
    out.append(f"<text x='{width}' y='{bottom + 32}' text-anchor='end'>{html.escape(x_name)}</text>"
               f"<text x='{left}' y='10'>{html.escape(y_name)}</text>")
    for k, (name, points) in enumerate(lines):
        colour = COLOURS[k % len(COLOURS)]
        dash = "" if k < len(COLOURS) else " stroke-dasharray='5 3'"
        path = f"M{px(points[0][0]):.1f} {py(points[0][1]):.1f}"
        path += "".join(f"H{px(x):.1f}V{py(y):.1f}" if stairs else f"L{px(x):.1f} {py(y):.1f}" for x, y in points[1:])
        out.append(f"<path d='{path}' fill='none' stroke='{colour}' stroke-width='{0.9 if name in thin else 2}'{dash}/>")
        out += [f"<circle cx='{px(x):.1f}' cy='{py(y):.1f}' r='2.5' fill='{colour}'/>" for x, y in (points[:1] if stairs else points)]
        out.append(f"<text x='{width + 15}' y='{25 + 16 * k}' fill='{colour}'>{html.escape(name)}{' (dashed)' if dash else ''}</text>")
    return "".join(out) + "</svg></figure>"


def folded(summary, blocks):
    """Opens by a click."""
    return f"<details><summary>{html.escape(summary)}</summary>" + "".join(blocks) + "</details>"


def page(title, facts, parts):
    """parts: (heading, [HTML])"""
    out = ["<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>",
           f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body><h1>{html.escape(title)}</h1><ul>"]
    out += [f"<li>{html.escape(f)}" for f in facts] + ["</ul>"]
    out += ["<p>", " · ".join(f"<a href='#s{k}'>{html.escape(h)}</a>" for k, (h, _) in enumerate(parts)), "</p>"]
    for k, (heading, blocks) in enumerate(parts):
        out += [f"<h2 id='s{k}'>{html.escape(heading)}</h2>", *blocks]
    return "".join(out) + "</body></html>\n"
