#!/usr/bin/env python3
"""names_records.py KIND FOLDER: files of records that `plot KIND` takes, FOLDER/KIND.N.jsonl, in which every
name is one of report_hostile.py's texts; a few texts a file, since a picture has so many colours.
names_records.py look KIND FOLDER: whether the pictures FOLDER/KIND.N.svg draw, and do nothing else, and show the texts."""
import glob
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

TEXTS = json.loads(subprocess.check_output([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "report_hostile.py"), "texts"]))
A_FILE = 5
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e]")


def shown(text):
    """As the program shows it, in a terminal and in what it writes for others: bytes."""
    return OBEYED.sub(lambda m: "".join(f"\\x{b:02x}" for b in m.group().encode()), text)


def drawn(text):
    """In a picture. What XML forbids in a text has a blank within."""
    return shown(text).replace("&#", "& #").replace("]]>", "]] >")


def epoch(text, number, **more):
    return {"kind": "epoch", "impl": text, "algorithm": "a", "threads": 1, "knobs": {}, "net": "n", "net_crc": "1", "data": "d", "data_on": "device", "batch": 10,
            "dtype": "f32", "layout": "nchw", "math": "f32", "optimizer": "o", "seed": 1, "train_images": 10, "test_images": 10, "graph": False, "epoch": number,
            "epochs": 5, "seconds": 1.5 + number, "train_s": 1, "test_s": 0.5, "train_loss": 2 / number, "test_loss": 1 / number, "train_accuracy": 0.5,
            "test_accuracy": 0.5, "images_per_s": 10, "marks": "", **more}


def operation(text, **more):
    return {"kind": "conv", "impl": "cpu", "algorithm": text, "threads": 1, "knobs": {}, "machine": "M", "op": "conv", "problem": "mb1ic2ih3oc4kh3", "dir": "FWD",
            "dtype": "f32", "math": "f32", "layout": "nchw", "cache": "hot", "flops": 1e6, "bytes": 1e3, "median_s": 1e-5, "low_s": 9e-6, "high_s": 1.1e-5,
            "marks": "", "verified": True, "state": "PASSED", **more}


def records(kind, text, i):
    if kind in ("epochs", "curves"):
        return [epoch(text, n) for n in range(1, 6)]
    if kind == "goals":
        return [{**epoch(text, 1), "kind": "goal", "goal": 0.1, "outcome": "reached", "epochs": 3, "seconds": 4.5, "train_s": 3}]
    if kind == "workers":
        return [epoch(text, n, threads=t, seconds=4 / t) for t in (1, 2) for n in range(1, 4)]
    if kind in ("bars", "solved"):
        return [operation(text)]
    if kind == "speedup":
        return [operation("direct", problem=f'mb1ic2ih3oc4kh3n"{text}"'), operation("naive", problem=f'mb1ic2ih3oc4kh3n"{text}"', median_s=2e-5)]
    if kind == "roofline":
        peak = {"kind": "peak", "impl": "cpu", "machine": "M", "threads": 1, "dtype": "f32", "math": "f32", "marks": "", "variant": text}
        return [operation(text), {**peak, "what": "fma", "value": 1e12, "unit": "flop/s"}, {**peak, "what": "read", "value": 1e12, "unit": "byte/s", "holds_bytes": 0}]
    if kind == "processes":
        return [{"kind": "process", "program": text, "by": "hyperfine", "source": text, "machine": "M", "median_s": 1 + i, "min_s": 1, "max_s": 9, "samples": 3}]
    if kind == "sweep":
        return [operation("a", kind="sweep", knobs={text: v}, baseline_s=1e-5, round=1) for v in (1, 2)]
    if kind == "errors":
        return [{**operation(text), "kind": "verify", "check": "bound", "state": "PASSED", "budget_used": 0.5, "reason": text}]
    if kind == "floor":
        peak = {"kind": "peak", "impl": "cpu", "machine": text, "threads": 1, "dtype": "f32", "math": "f32", "marks": "", "variant": text, "median": 1e10, "samples": 9}
        profile = {**epoch("cpu", 1), "kind": "profile", "net": text, "layer": text, "pass": "FWD", "phase": text, "seconds": 0.4, "share": 0.4, "times": 10, "flops": 1e9, "bytes": 1e10}
        return [{"kind": "env", "cpu": text, "cores": 1, "impl": "cpu", "threads": 1}, {**peak, "what": "fma", "value": 1e12, "unit": "flop/s"},
                {**peak, "what": "read", "value": 1e12, "unit": "byte/s", "holds_bytes": 0}, profile]
    assert kind == "kills", kind
    return [{"kind": "kill", "mutant": text, "impl": "cpu", "algorithm": text, "date": "2026-11-20", "end": "caught", "failed": "exact", "passed": "bound", "list": text,
             "asked": text, "why": text}]


def make(kind, folder):
    # Of these one text a file is drawn: a setting each, and a machine.
    step = 1 if kind in ("sweep", "floor") else A_FILE
    for n in range(0, len(TEXTS), step):
        with open(f"{folder}/{kind}.{n}.jsonl", "w", encoding="utf-8") as file:
            for i, text in enumerate(TEXTS[n:n + step]):
                for record in records(kind, text, i):
                    file.write(json.dumps(record) + "\n")


def look(kind, folder):
    wrong, seen = [], 0
    for path in glob.glob(f"{folder}/{kind}.*.svg"):
        source = open(path, encoding="utf-8").read()
        if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", source):
            wrong.append(f"{path}: characters that are obeyed")
        try:
            tree = ElementTree.fromstring(source)
        except ElementTree.ParseError as error:
            wrong.append(f"{path} is no XML: {error}")
            continue
        for element in tree.iter():
            tag = element.tag.split("}")[-1]
            if tag in ("script", "image", "style", "foreignObject", "a", "h1", "img"):
                wrong.append(f"{path}: an element <{tag}>")
            for name, value in element.attrib.items():
                if name.split("}")[-1].startswith("on") or (name.endswith("href") and not value.startswith("#")):
                    wrong.append(f"{path}: an attribute {name}={value}")
        words = " ".join(" ".join(tree.itertext()).split())
        numbers = re.search(r"\.(\d+)\.svg$", path)
        first = int(numbers.group(1))
        for text in TEXTS[first:first + (1 if kind in ("sweep", "floor") else A_FILE)]:
            start = " ".join(drawn(text).split())[:7].strip() # a long name's middle is left out
            seen += start in words
            if start not in words:
                wrong.append(f"{path} does not show {text!r}")
    if seen < len(TEXTS):
        wrong.append(f"{seen} of {len(TEXTS)} names are seen in the pictures of {kind}")
    return wrong


if sys.argv[1] == "look":
    said = look(*sys.argv[2:])
else:
    said = make(*sys.argv[1:]) or []
print("\n".join(said[:12]))
sys.exit(1 if said else 0)
