"""rows.py: the rows of a page's large tables: figures, cases, trainings."""
import os
from types import SimpleNamespace

from pictures import spark
from values import grouped, knobs, number, percent, text, words

def common_command(rows):
    """(prefix, middle, suffix) that the commands of these rows share. Between them a row keeps what is its own: `word`, as a
    rule the kernel's name, and `extra`, settings. Ten thousand whole commands would be most of the page."""
    commands = [row["command"] for row in rows]
    prefix = os.path.commonprefix(commands)
    prefix = prefix[:prefix.rfind(" ") + 1] if len(rows) > 1 else prefix
    rest = [command[len(prefix):].split(" ") for command in commands]
    end = len(os.path.commonprefix([words[:0:-1] for words in rest]))
    begin = len(os.path.commonprefix([words[1:len(words) - end] for words in rest]))
    joined = lambda words: "".join(" " + word for word in words)
    for row, words_of in zip(rows, rest):
        row["word"], row["extra"] = words_of[0], joined(words_of[1 + begin:len(words_of) - end])
    return prefix, joined(rest[0][1:1 + begin]), joined(rest[0][len(rest[0]) - end:])


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
    row.update(seconds=seconds, time=text(record, "time"), count=record.get("count", 0), rank=rank(record),
               interval=interval(record),
               among=record.get("among"), share=number(record, "share"), floor=text(record, "floor_by"),
               floor_doubts=text(record, "floor_marks"),
               width=round(100 * best / seconds) if best and seconds else None)
    return row


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
            shared = common_command(rows)
            bodies.append({"title": title, "facts": facts, "shared": shared, "extra": any(row["extra"] for row in rows),
                           "rows": [SimpleNamespace(**row) for row in rows]}) # Jinja2 finds an attribute in half the time of an item
        made.append({"machine": machine, "environment": environments.get(environment), "bodies": bodies,
                     "rows": sum(len(b["rows"]) for b in bodies)})
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
