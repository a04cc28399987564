#!/usr/bin/env python3
"""report_kinds.py FIELDS.INC: records of every kind that the table of fields has, each field with a value of its type and
a text that names its kind, to standard output.
report_kinds.py FIELDS.INC PAGE REPORT.MD: each kind either stands on the page, or the page and REPORT.MD name it as left out,
and not both. Prints what is wrong; status 1 where anything is."""
import html
import json
import re
import sys


def kinds_of(path):
    """kind -> [(field, type)], as harness/record/fields.inc has them."""
    names, kinds = {}, {}
    def parts(text): # of C: quoted texts, and names of such
        return [(word, quoted) for quoted, word in re.findall(r'"((?:[^"\\]|\\.)*)"|\b([A-Z]+)\b', text)]
    def joined(pairs):
        return "".join(names[word] if word else quoted for word, quoted in pairs)
    for line in open(path, encoding="utf-8"):
        if line.startswith("#define "):
            _, name, text = line.split(" ", 2)
            names[name] = joined(parts(text))
        if not line.startswith(("FIELDS(", "PROSE(")):
            continue
        all_parts = parts(line.split("(", 1)[1])
        fields, types = (all_parts[i][1].split(", ") for i in (-4, -3))
        for kind in joined(all_parts[:-4]).split(","):
            for i, field in enumerate(fields):
                kinds.setdefault(kind, []).append((field, types[min(i, len(types) - 1)]))
    return kinds


def record(kind, fields):
    made = {"kind": kind}
    for field, of in fields:
        text = f"of-{kind}-{field}"
        made[field] = {"text": text, "int": 1, "real": 0.5, "bool": True, "reals": [0.5, 0.25]}.get(of)
        if made[field] is None:
            made[field] = {"a": 1} if of.endswith("ints") else {"a": text}
    made.update({f: v for f, v in (("state", "PASSED"), ("end", "caught")) if f in made and kind not in ("case", "step")})
    return made


def main():
    kinds = kinds_of(sys.argv[1])
    if len(sys.argv) == 2:
        for kind, fields in kinds.items():
            print(json.dumps(record(kind, fields)))
        return 0
    page = open(sys.argv[2], encoding="utf-8").read()
    shown = html.unescape(re.sub(r'href="data:[^"]*"', "", page))
    left = set(re.findall(r"record of kind <b>(\w+)</b>|records of kind <b>(\w+)</b>", page))
    left = {a or b for a, b in left}
    told = open(sys.argv[3], encoding="utf-8").read()
    told = re.search(r"## What is left out\n(.*?)(?:\n## |\Z)", told, re.S).group(1)
    told = {kind for heads in re.findall(r"^- ([^:]*):", told, re.M) for kind in re.findall(r"`(\w+)`", heads)}
    wrong = [f"{len(kinds)} kinds are too few: the table was not read"] if len(kinds) < 40 else []
    for kind in kinds:
        stands = f"of-{kind}-" in shown
        if stands == (kind in left):
            wrong.append(f"records of kind {kind} are {'shown, and said to be left out' if stands else 'neither shown nor said to be left out'}")
        if (kind in told) != (kind in left):
            wrong.append(f"docs/report.md {'names' if kind in told else 'does not name'} {kind} as left out, and the page {'does not' if kind in told else 'does'}")
    wrong += [f"docs/report.md names {kind} as left out, which is no kind of record" for kind in told - set(kinds)]
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main())
