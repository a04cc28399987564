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
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE) # python -I leaves it out
try:
    import jinja2
    from markupsafe import Markup
except ImportError:
    sys.exit(3)

from pictures import pictures
from rows import case, operation, tables, timed, tone, trained, training, verified
from sections import compared, mutants, others, passes, scaling, tested
from values import grouped, number, percent, shown, text, words

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


# ---- The page

def compressed(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.compress(data, 9 if len(data) < 1 << 23 else 6, mtime=0)


def embedded(packed, sources):
    """The files, compressed, as links that hold them."""
    links = []
    for data, source in zip(packed, sources):
        name = os.path.basename(text(source, "path")) or "records.jsonl"
        links.append({"name": name, "records": source.get("records"), "bad": source.get("bad"), "bytes": len(data),
                      "data": base64.b64encode(data).decode("ascii")})
    return links


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
        head=head, rest=rest, commands=get("command"), cards=cards,
        summary=verified(cases), case_tables=tables(cases, case, operation, by_id), not_held=sum(tone(text(r, "state")) == "bad" for r in cases),
        unsupported=get("unsupported"), skipped=get("skipped"), timings=tables(get("timing"), timed, operation, by_id),
        trainings=tables(get("training"), trained, training, by_id), epochs=sum(r.get("count", 0) for r in get("training")),
        epochs_verified=sum(r.get("verified", 0) for r in get("training")), marks=get("mark"), pictures=drawn, not_drawn=not_drawn,
        comparisons=compared(kinds), passes=passes(get("pass")), mutants=mutants(kinds), scaling=scaling(kinds),
        tested=tested(get("other")), others=others(get("other")), left_out=get("left_out"), files=embedded(packed, get("source")), css=Markup(css), js=Markup(js),
        js_hash=base64.b64encode(hashlib.sha256(js.encode()).digest()).decode())
    sys.stdout.buffer.write(page.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
