#!/usr/bin/env python3
"""Lays out the page of `benchcnn report`. Standard input: the records that bench/figures/page.h lists, a line each.
Arguments: the files of records that the page embeds. Standard output: the page. Status 3: there is no Jinja2.

What figures mean (medians, intervals, ranks, shares, doubts) is computed by the program; here it is only set out. All
texts of records go through Jinja2's autoescape, and through shown(), which shows what a browser or a terminal obeys."""
import base64
import gc
import gzip
import hashlib
import json
import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor

try:
    import jinja2
    from markupsafe import Markup, escape
except ImportError:
    sys.exit(3)

HERE = os.path.dirname(os.path.abspath(__file__))
# Control characters, and those that turn the direction of the text around them or take no room.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def shown(value):
    """A value as it is put into the page: no character of it is obeyed by anyone. Markup is the page's own."""
    if value is None:
        return ""
    if isinstance(value, (Markup, jinja2.Undefined)) or (type(value) is str and value.isprintable()):
        return value
    def code(match):
        number = ord(match.group())
        return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"
    return OBEYED.sub(code, str(value))


# ---- Values

def number(record, field):
    value = record.get(field)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def text(record, field):
    value = record.get(field)
    return value if isinstance(value, str) else ""


def quantity(value, unit):
    """64.6 TFLOP/s from 6.46e13 and flop/s."""
    unit = {"flop/s": "FLOP/s", "byte/s": "B/s"}.get(unit, unit)
    if value is None or not value > 0:
        return ""
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")):
        if value >= 0.9995 * factor:
            break
    return f"{value / factor:.3g} {prefix}{unit}"


def grouped(value):
    return f"{value:,.0f}" if value is not None else ""


def percent(value, digits=1):
    """Small shares keep two digits: 0.051 %."""
    if value is None:
        return ""
    return f"{100 * value:.2g} %" if digits == 1 and 0 < value < 0.01 else f"{100 * value:.{digits}f} %"


def knobs(record):
    """Settings that differ from their defaults, as a user would write them."""
    value = record.get("knobs")
    return " ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else ""


def words(*values):
    return " ".join(str(v) for v in values if v not in (None, "", False))


# ---- Rows of tables

def common_command(rows):
    """(prefix, suffix) that the commands of these rows share: a row keeps what is its own. Ten thousand whole commands
    would be most of the page."""
    commands = [row["command"] for row in rows]
    prefix = os.path.commonprefix(commands)
    prefix = prefix[:prefix.rfind(" ") + 1] if len(rows) > 1 else prefix
    rest = [command[len(prefix):] for command in commands]
    suffix = os.path.commonprefix([r[::-1] for r in rest])[::-1]
    suffix = suffix[suffix.find(" "):] if " " in suffix else ""
    for row, own in zip(rows, rest):
        row["own"] = own[:len(own) - len(suffix)] if suffix else own
    return prefix, suffix


def rank(record):
    if "rank" not in record:
        return ""
    return f"{record['rank']}{' =' if record.get('tied', 1) > 1 else ''}"


def basic(record):
    """What rows of all kinds have: name, verdict with its reason, command."""
    doubts = [m for m in text(record, "marks").split(",") if m]
    state = text(record, "state") or "?"
    if record.get("beyond") is True:
        state = "BEYOND ITS CEILING"
    chosen = words(text(record, "choice"), text(record, "inner_choice"))
    warnings = record.get("warnings")
    return {"name": text(record, "name"), "chosen": chosen if chosen != text(record, "algorithm") else "",
            "settings": knobs(record), "state": state, "tone": tone(state, doubts), "doubts": doubts,
            "reason": text(record, "reason"), "command": text(record, "repro"),
            "warnings": ", ".join(f"{k}={v}" for k, v in warnings.items()) if isinstance(warnings, dict) else "",
            "where": f"{os.path.basename(text(record, 'file'))}:{record.get('line', '')}"}


def tone(state, doubts=()):
    if state in ("PASSED", "FASTER", "SAME"):
        return "doubt" if doubts else "good"
    return "soft" if state in ("UNSUPPORTED", "SKIPPED", "NOT CHECKED", "OUT_OF_MEMORY") else "bad"


def interval(record):
    """Where three digits do not tell its ends apart, how wide it is."""
    low, high = text(record, "low"), text(record, "high")
    return f"{low} to {high}" if low != high else f"± {percent(number(record, 'noise'))}" if low else ""


def timed(record, best):
    row = basic(record)
    seconds = number(record, "seconds")
    row.update(seconds=seconds, key=f"{seconds:.5g}" if seconds is not None else None, time=text(record, "time"), count=record.get("count", 0), rank=rank(record),
               interval=interval(record),
               among=record.get("among"), share=number(record, "share"), floor=text(record, "floor_by"),
               floor_doubts=text(record, "floor_marks"),
               width=round(100 * best / seconds) if best and seconds else None)
    return row


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


def last(record, field):
    values = record.get(field)
    return values[-1] if isinstance(values, list) and values and isinstance(values[-1], (int, float)) else None


def trained(record, best):
    row = timed(record, best)
    row.update(images=number(record, "images_per_s"), accuracy=last(record, "test_accuracies"),
               loss=last(record, "test_losses"), spark=spark(record), verified=record.get("verified", 0),
               budget=number(record, "budget_used"))
    return row


def case(record, _):
    row = basic(record)
    row.update(checks=text(record, "checks").replace(",", " "), budget=number(record, "budget_used"),
               precision=text(record, "precision"))
    return row


def types(record):
    math = text(record, "math")
    return words(text(record, "dtype"), math if math != "f32" else "", text(record, "layout"))


def operation(record):
    mode, cache = text(record, "mode"), text(record, "cache")
    return words(text(record, "op"), text(record, "dir"), text(record, "problem") or text(record, "net")), words(
        types(record), "flipped kernel" if mode == "convolution" else "",
        "without bias" if record.get("bias") is False else "", f"{cache} caches" if cache else "",
        f"within {text(record, 'net')}" if cache == "network" else "")


def training(record):
    return words(text(record, "net"), "batch", record.get("batch")), words(
        text(record, "data"), f"{grouped(number(record, 'train_images'))} + {grouped(number(record, 'test_images'))} images,",
        text(record, "optimizer"), types(record), text(record, "schedule"), text(record, "preprocess"))


def tables(records, row_of, title_of, environments):
    """A table for each environment and machine; in it a group for each task, which is ranked by itself."""
    places = {}
    for record in records:
        place = places.setdefault((record.get("environment"), text(record, "machine")), {})
        place.setdefault(record.get("group"), []).append(record)
    made = []
    for (environment, machine), groups in places.items():
        bodies = []
        for members in groups.values():
            times = [number(r, "seconds") for r in members if "rank" in r]
            rows = [row_of(r, min(times, default=None)) for r in members]
            threads = {number(r, "threads") for r in members}
            for row, r in zip(rows, members):
                row["settings"] = words(row["settings"], f"{r['threads']} threads" if len(threads) > 1 and number(r, "threads") else "",
                                        f"{r['workers']} workers" if number(r, "workers") else "",
                                        f"{r['ranks']} ranks" if number(r, "ranks") and r["ranks"] > 1 else "",
                                        "images from the host" if r.get("data_on") == "host" else "")
            rows.sort(key=lambda row: (not row.get("rank"), row.get("seconds") or 0))
            title, facts = title_of(members[0])
            prefix, suffix = common_command(rows)
            bodies.append({"title": title, "facts": facts, "rows": rows, "prefix": prefix, "suffix": suffix})
        made.append({"machine": machine, "environment": environments.get(environment), "bodies": bodies,
                     "rows": sum(len(b["rows"]) for b in bodies),
                     "ceilings": any(r.get("share") is not None for b in bodies for r in b["rows"])})
    return made


# ---- What was verified

def verified(cases):
    """A row for each algorithm and operation."""
    sums = {}
    for record in cases:
        key = (text(record, "name"), text(record, "op") or f"network {text(record, 'net')}", types(record))
        s = sums.setdefault(key, {"name": key[0], "op": key[1], "types": key[2], "states": {}, "checks": [],
                                  "budget": None, "precision": set()})
        state = text(record, "state") or "?"
        s["states"][state] = s["states"].get(state, 0) + 1
        for check in text(record, "checks").split(","):
            if check and check not in s["checks"]:
                s["checks"].append(check)
        used = number(record, "budget_used")
        if used is not None and (s["budget"] is None or used > s["budget"]):
            s["budget"] = used
        if text(record, "precision"):
            s["precision"].add(text(record, "precision"))
    return list(sums.values())


# ---- Machines

def machine_card(record, sessions, rows):
    """An environment: its facts, its implementations, the clocks that its figures saw."""
    clocks = {}
    for field, least in (("sm_mhz_min", True), ("sm_mhz_max", False), ("sm_mhz_limit", False), ("temperature_c", False), ("power_w", False)):
        values = [number(r, field) for r in rows if number(r, field) is not None]
        if values:
            clocks[field] = min(values) if least else max(values)
    facts = []
    def fact(name, value):
        if value not in (None, "", "None"):
            facts.append((name, value))
    memory = number(record, "memory_bytes")
    fact("processor", text(record, "cpu"))
    fact("cores", words(record.get("cores"), f"of {record['cores_online']}" if record.get("cores_online") not in (None, record.get("cores")) else ""))
    fact("memory", f"{memory / 2**30:.0f} GiB" if memory else "")
    fact("system", ", ".join(t for t in (text(record, "os"), text(record, "kernel")) if t))
    fact("processor clock", f"{number(record, 'cpu_mhz'):.0f} MHz" if number(record, "cpu_mhz") else "")
    fact("governor", text(record, "cpu_governor"))
    fact("clock source", text(record, "clock_source"))
    fact("load at the start", f"{number(record, 'load_average'):.2f}" if number(record, "load_average") is not None else "")
    if "sm_mhz_min" in clocks:
        fact("GPU clock", f"{clocks['sm_mhz_min']:.0f} to {clocks.get('sm_mhz_max', clocks['sm_mhz_min']):.0f} MHz"
             + (f" of at most {clocks['sm_mhz_limit']:.0f}" if "sm_mhz_limit" in clocks else ""))
    fact("GPU, at most", ", ".join(w for w in (f"{clocks['temperature_c']:.0f} °C" if "temperature_c" in clocks else "",
                                              f"{clocks['power_w']:.0f} W" if "power_w" in clocks else "") if w))
    fact("benchcnn", words(text(record, "version"), f"commit {text(record, 'commit')}" if text(record, "commit") else ""))
    fact("compiler", words(text(record, "compiler"), text(record, "flags"), text(record, "build_type")))
    first, end = text(record, "from")[:16].replace("T", " "), text(record, "to")[:16].replace("T", " ")
    fact("date, UTC", first if first == end else f"{first} to {end}")
    machines = []
    for s in sessions:
        if text(s, "machine") and text(s, "machine") not in machines:
            machines.append(text(s, "machine"))
    gpus = [m for m in machines if m != text(record, "cpu")]
    return {"id": record.get("id"), "title": " and ".join(gpus + ([text(record, "cpu")] if not gpus else [])) or "unnamed machine",
            "commit": text(record, "commit"), "from": first[:10], "facts": facts,
            "sessions": [{"impl": text(s, "impl") or "benchcnn", "facts": facts_of(s)} for s in sessions if facts_of(s)]}


def facts_of(session):
    told = session.get("implementation")
    return [(k, v) for k, v in told.items() if k not in ("threads", "pci_bus_id")] if isinstance(told, dict) else []


# ---- Pictures

PICTURES = {"": "Seconds per epoch over batch size", "curves": "Learning curves", "workers": "Speedup over threads or workers",
            "speedup": "Speedups", "roofline": "Operations under the measured roofs"}
TAGS = {"svg", "g", "path", "text", "tspan", "title", "desc", "defs", "circle", "use", "rect", "line", "polyline", "polygon", "clipPath",
        "linearGradient", "stop"}
ATTRIBUTES = {"width", "height", "viewBox", "d", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry", "points", "transform", "fill",
              "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray", "stroke-opacity",
              "opacity", "color", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "id", "href", "clip-path", "dy",
              "dx", "class", "stroke-miterlimit", "overflow"}
SPACE = "{http://www.w3.org/XML/1998/namespace}space"


DEFAULTS = {("stroke-linecap", "butt"), ("stroke-linejoin", "miter"), ("stroke-width", "1.00"), ("fill", "none")}


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
        for full, value in element.attrib.items():
            name = local(full)
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
        space = ' xml:space="preserve"' if SPACE in element.attrib else ""
        out.append(f"<{tag}{''.join(attributes(element, top))}{space}" + (' fill="none" role="img"' if top else ""))
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


# ---- The page

def compressed(path):
    with open(path, "rb") as file:
        return gzip.compress(file.read(), 6, mtime=0)


def embedded(packed, sources):
    """The files, compressed, as links that hold them."""
    links = []
    for data, source in zip(packed, sources):
        name = os.path.basename(text(source, "path")) or "records.jsonl"
        links.append({"name": name, "records": source.get("records"), "bad": source.get("bad"), "bytes": len(data),
                      "data": base64.b64encode(data).decode("ascii")})
    return links


def others(records):
    """Records that are shown as they are: (title, columns, rows)."""
    def table(title, kind, *columns):
        rows = [[column(r) if callable(column) else shown(r.get(column, "")) for _, column in columns]
                for r in records if r.get("record") == kind]
        keep = [i for i in range(len(columns)) if any(row[i] for row in rows)]
        return {"title": title, "columns": [columns[i][0] for i in keep], "rows": [[row[i] for i in keep] for row in rows]}
    def seconds(field):
        return lambda r: quantity(number(r, field), "s")
    made = [table("Ceilings", "peak", ("machine", "machine"), ("what", "what"), ("variant", "variant"), ("type", "dtype"), ("math", "math"),
                  ("threads", "threads"), ("at best", lambda r: quantity(number(r, "value"), text(r, "unit"))), ("marks", "marks")),
            table("Whole processes", "process", ("program", "program"), ("median", seconds("median_s")), ("from", seconds("min_s")),
                  ("to", seconds("max_s")), ("runs", "samples")),
            table("Random problems", "fuzz", ("implementation", "impl"), ("algorithm", "algorithm"), ("operation", "op"), ("passed", "passed"),
                  ("failed", "failed"), ("mistrusted", "mistrusted"), ("skipped", "skipped"), ("unsupported", "unsupported"), ("seed", "seed")),
            table("Best of a sweep", "sweep_best", ("implementation", "impl"), ("algorithm", "algorithm"), ("problem", "problem"), ("direction", "dir"),
                  ("settings", knobs), ("time", seconds("median_s")), ("points", "points"), ("tied", "tied"), ("default / best", lambda r: f"{number(r, 'regret'):.3g}" if number(r, "regret") else "")),
            table("Comparisons in the files", "compare", ("figure", "figure"), ("verdict", "verdict"), ("reason", "reason"), ("B / A", lambda r: f"{number(r, 'ratio'):.3g}" if number(r, "ratio") else ""),
                  ("A", seconds("a_s")), ("B", seconds("b_s"))),
            table("Tests of weights", "eval", ("implementation", "impl"), ("network", "net"), ("data", "data"), ("images", "images"), ("accuracy", lambda r: percent(number(r, "accuracy"), 2)))]
    return [t for t in made if t["rows"]]


def compared(kinds):
    sections = []
    for record in kinds.get("compared", []):
        file = text(record, "file")
        rows = [r for r in kinds.get("compare", []) if text(r, "file") == file]
        sections.append({"was": os.path.basename(text(record, "was")), "is": os.path.basename(file), "reason": text(record, "reason"),
                         "figures": (record.get("was_figures"), record.get("is_figures")),
                         "differences": [r for r in kinds.get("difference", []) if text(r, "file") == file],
                         "rows": [{"name": text(r, "name"), "verdict": text(r, "verdict"), "reason": text(r, "reason"),
                                   "tone": "bad" if text(r, "verdict") == "SLOWER" else "doubt" if text(r, "verdict") == "CANNOT TELL" else "good",
                                   "ratio": number(r, "ratio"), "a": text(r, "a"), "b": text(r, "b"), "runs": (r.get("a_runs"), r.get("b_runs")),
                                   "interval": f"{number(r, 'ratio_low'):.3f} to {number(r, 'ratio_high'):.3f}" if number(r, "ratio_high") else ""} for r in rows]})
    return sections


def main():
    gc.disable() # what is made here is needed to the end
    packed = ThreadPoolExecutor(1).map(compressed, sys.argv[1:]) # beside the rest
    kinds = {}
    for line in sys.stdin.buffer:
        record = json.loads(line.decode("utf-8", "replace"), strict=False)
        kinds.setdefault(record["kind"], []).append(record)
    get = lambda kind: kinds.get(kind, [])
    with open(os.path.join(HERE, "page.css"), encoding="utf-8") as file:
        css = file.read()
    with open(os.path.join(HERE, "page.js"), encoding="utf-8") as file:
        js = file.read()
    figures = get("timing") + get("training")
    cards = [machine_card(e, [s for s in get("session") if s.get("environment") == e.get("id")],
                          [r for r in figures if r.get("environment") == e.get("id")]) for e in get("environment")]
    by_id = {card["id"]: card for card in cards}
    drawn, not_drawn = pictures(get("picture"))
    cases = get("case")
    fastest = [v for v in get("verdict") if not v.get("counts")]
    head, rest = [v for v in get("verdict") if v.get("counts")] + fastest[:1], fastest[1:]
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, finalize=shown, trim_blocks=True,
                                     lstrip_blocks=True, keep_trailing_newline=True)
    environment.filters.update(percent=percent, grouped=grouped, tone=tone)
    page = environment.get_template("page.html").render(
        head=head, rest=rest, commands=get("command"), steps=[r for r in get("other") if r.get("record") == "step"], cards=cards,
        summary=verified(cases), case_tables=tables(cases, case, operation, by_id), not_held=sum(tone(text(r, "state")) == "bad" for r in cases),
        unsupported=get("unsupported"), skipped=get("skipped"), timings=tables(get("timing"), timed, operation, by_id),
        trainings=tables(get("training"), trained, training, by_id), epochs=sum(r.get("count", 0) for r in get("training")),
        epochs_verified=sum(r.get("verified", 0) for r in get("training")), marks=get("mark"), pictures=drawn, not_drawn=not_drawn,
        comparisons=compared(kinds), others=others(get("other")), files=embedded(packed, get("source")), css=Markup(css), js=Markup(js),
        js_hash=base64.b64encode(hashlib.sha256(js.encode()).digest()).decode())
    sys.stdout.buffer.write(page.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
