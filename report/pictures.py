"""pictures.py: the SVG of a page: what gnuplot drew, and the small curves within tables."""
import os
import re
import xml.etree.ElementTree as ElementTree

from markupsafe import Markup, escape

from values import shown, text

SPARK_POINTS = 60


def spark(record):
    """The losses of a training as a small picture: training faint, test strong, on one linear scale."""
    lines, losses = [], []
    for field in ("train_losses", "test_losses"):
        values = record.get(field)
        values = [v for v in values if isinstance(v, (int, float))] if isinstance(values, list) else []
        step = max(1, -(-len(values) // SPARK_POINTS))
        lines.append(values[::step] + (values[-1:] if step > 1 else []))
        losses += lines[-1]
    if not losses or min(len(line) for line in lines) < 2:
        return ""
    low, high = min(losses), max(losses)
    drawn = []
    for style, values in zip("ab", lines):
        points = " ".join(f"{2 + 96 * i / (len(values) - 1):.1f},{22 - 20 * ((v - low) / (high - low) if high > low else 0):.1f}"
                          for i, v in enumerate(values))
        drawn.append(f'<polyline class="{style}" points="{points}"/>')
    label = f"test loss from {lines[1][0]:.3g} to {lines[1][-1]:.3g}, training loss from {lines[0][0]:.3g} to {lines[0][-1]:.3g}"
    return Markup('<svg class="spark" viewBox="0 0 100 24" role="img" aria-label="%s">%s</svg>') % (label, Markup("".join(drawn)))


PICTURES = {"": "Seconds per epoch over batch size", "curves": "Learning curves", "workers": "Speedup over threads or workers", "ranks": "Scaling over ranks, measured and by a model",
            "speedup": "Speedups", "solved": "How many problems each solves, and how fast", "roofline": "Operations under the measured roofs", "sweep": "Settings of a sweep", "bars": "Times of operations, of whole processes and of other programs",
            "goals": "Seconds to a loss or an accuracy", "floor": "How near each layer is to its floor", "errors": "How much of what rounding may leave is used",
            "kills": "Which check catches which broken kernel"}
TAGS = {"svg", "g", "path", "text", "tspan", "title", "desc", "defs", "circle", "use", "rect", "line", "polyline", "polygon", "clipPath",
        "linearGradient", "stop"}
ATTRIBUTES = {"width", "height", "viewBox", "d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry", "points", "transform", "fill",
              "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray", "stroke-opacity",
              "opacity", "color", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "id", "href", "clip-path", "dy",
              "dx", "class", "stroke-miterlimit", "overflow"}


DEFAULTS = {("stroke-linecap", "butt"), ("stroke-linejoin", "miter"), ("stroke-width", "1.00"), ("fill", "none"), ("text-anchor", "start")}


def compact(name, value):
    """An attribute's value in fewer letters: tenths of a pixel, colours as #RRGGBB."""
    value = re.sub(r"rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)", lambda m: "#%02x%02x%02x" % tuple(int(c) for c in m.groups()), value)
    if name in ("d", "points", "transform"):
        value = re.sub(r"(\.\d)\d+", r"\1", value)
    return re.sub(r"\s+", " ", value).strip()


def clean_svg(source, prefix):
    """A picture as part of a page: only what draws, no reference to the outside, identifiers of its own. What stands in
    its texts was put there by gnuplot, from records."""
    out = []
    tree = ElementTree.fromstring(source.encode("utf-8", "replace"))
    local = lambda name: name.split("}")[-1] if isinstance(name, str) else ""
    used = {value[1:] for element in tree.iter() for name, value in element.attrib.items() if local(name) == "href" and value.startswith("#")}
    used |= {m for element in tree.iter() for m in re.findall(r"^url\(#([\w-]+)\)$", element.get("clip-path", ""))}
    short = {name: f"{prefix}{i}" for i, name in enumerate(sorted(used))}

    def attributes(element, top):
        around = len(element) > 0 and local(element[0].tag) == "text" # what page.css says of every text
        for full, value in element.attrib.items():
            name = local(full)
            if around and (name == "font-family" or (name, value) == ("stroke", "none")):
                continue
            if name not in ATTRIBUTES or (top and name in ("width", "height")) or (local(element.tag) == "g" and (name, value) in DEFAULTS):
                continue
            if name in ("id", "href"):
                value = short.get(value.removeprefix("#"))
                value = f"#{value}" if value and name == "href" else value
            elif name == "clip-path":
                value = short.get((re.findall(r"^url\(#([\w-]+)\)$", value) or [""])[0])
                value = f"url(#{value})" if value else None
            if value is not None:
                yield f' {name}="{escape(shown(compact(name, value)))}"'

    def put(element, top=False):
        tag = local(element.tag)
        parent = local(element.tag) == "defs"
        if tag not in TAGS or tag in ("title", "desc") or (tag == "g" and len(element) == 0):
            return
        words_in = tag in ("text", "tspan")
        if tag == "path" and not re.search(r"[LlHhVvCcZz]", element.get("d", "")):
            return # a pen that moves and draws nothing
        out.append(f"<{tag}{''.join(attributes(element, top))}" + (' fill="none" role="img"' if top else ""))
        if len(element) == 0 and not words_in:
            out.append("/>")
            return
        out.append(">")
        out.append(str(escape(shown((element.text or "").strip("\n")))) if words_in else "")
        for child in element:
            if not parent or child.get("id") in used:
                put(child)
            if words_in:
                out.append(str(escape(shown((child.tail or "").strip("\n")))))
        out.append(f"</{tag}>")

    put(tree, True)
    return Markup("".join(out))


def pictures(records):
    drawn, missing = [], []
    for i, record in enumerate(records):
        kind, reason = text(record, "picture"), text(record, "reason")
        title = PICTURES.get(kind, kind)
        if reason:
            missing.append((title, reason))
        for k, part in enumerate(re.split(r"(?=<\?xml )", text(record, "svg"))):
            if part.strip():
                drawn.append({"title": title, "file": os.path.basename(text(record, "file")), "svg": clean_svg(part, f"p{i}{chr(97 + k % 26)}")})
    titles = {p["title"] for p in drawn}
    return drawn, [(t, r) for t, r in missing if t not in titles]
