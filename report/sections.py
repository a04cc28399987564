"""sections.py: what a page says beside its large tables: comparisons, passes of an epoch, broken kernels, scaling over ranks,
tests of weights, and records that are shown as they are."""
import os

from values import grouped, knobs, number, percent, quantity, shown, text, words

ANSWERS = 100 # that are shown: thousands of images are for the files


def named(record):
    return shown(words(text(record, "impl") + (":" if text(record, "algorithm") else "") + text(record, "algorithm")))


def short(field):
    return lambda record: f"{number(record, field):.3g}" if number(record, field) is not None else ""


def goal_of(record):
    goal = number(record, "goal")
    if goal is None:
        return ""
    return f"accuracy of {percent(goal, 2)}" if text(record, "goal_of") == "accuracy" else f"loss below {goal:.3g}"


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
                  ("to", seconds("max_s")), ("runs", "samples"), ("failed", lambda r: shown(r["failed"]) if r.get("failed") else "")),
            table("Benchmarks of other programs", "benchmark", ("benchmark", "program"), ("by", "by"), ("machine", "machine"), ("threads", "threads"), ("caches", "cache"),
                  ("median", seconds("median_s")), ("mean", seconds("mean_s")), ("from", seconds("min_s")), ("to", seconds("max_s")), ("runs", "samples"),
                  ("state", "state"), ("reason", "reason")),
            table("Random problems", "fuzz", ("implementation", "impl"), ("algorithm", "algorithm"), ("operation", "op"), ("passed", "passed"),
                  ("failed", "failed"), ("mistrusted", "mistrusted"), ("skipped", "skipped"), ("unsupported", "unsupported"), ("seed", "seed")),
            table("Best of a sweep", "sweep_best", ("implementation", "impl"), ("algorithm", "algorithm"), ("problem", "problem"), ("direction", "dir"),
                  ("settings", knobs), ("time", seconds("median_s")), ("points", "points"), ("tied", "tied"), ("default / best", lambda r: f"{number(r, 'regret'):.3g}" if number(r, "regret") else "")),
            table("Comparisons in the files", "compare", ("figure", "figure"), ("verdict", "verdict"), ("reason", "reason"), ("B / A", lambda r: f"{number(r, 'ratio'):.3g}" if number(r, "ratio") else ""),
                  ("A", seconds("a_s")), ("B", seconds("b_s"))),
            table("Lines of recipes", "step", ("recipe", "recipe"), ("line", "line"), ("command", "command"), ("ran", "ran"), ("state", "state"), ("status", "status"), ("seconds", seconds("seconds"))),
            table("Seconds to a loss or an accuracy", "goal", ("implementation", named), ("network", "net"), ("data", "data"), ("batch", "batch"), ("seed", "seed"),
                  ("goal", goal_of), ("outcome", "outcome"), ("epochs", "epochs"), ("seconds", seconds("seconds")), ("test loss", short("test_loss")),
                  ("accuracy", lambda r: percent(number(r, "test_accuracy"), 2)), ("marks", "marks")),
            table("Tuned choices", "tuned", ("implementation", "impl"), ("operation", "op"), ("problem", "problem"), ("direction", "dir"), ("type", "dtype"), ("layout", "layout"),
                  ("algorithm", "algorithm"), ("threads", "use_threads"), ("settings", knobs), ("time", seconds("median_s")), ("default's", seconds("default_s"))),
            table("Epochs that were profiled", "profiled_epoch", ("implementation", named), ("network", "net"), ("batch", "batch"), ("epoch", "epoch"), ("seconds", seconds("seconds")),
                  ("unprofiled", seconds("unprofiled_s")), ("test loss", short("test_loss")), ("accuracy", lambda r: percent(number(r, "test_accuracy"), 2))),
            table("Sums over ranks", "all_reduce", ("memory of", "impl"), ("ranks", "ranks"), ("library", "rank_library"), ("way", "comm_way"),
                  ("bytes", lambda r: grouped(number(r, "bytes"))), ("median", seconds("median_s")), ("at best", seconds("best_s"))),
            table("Latency and bandwidth of sums over ranks", "all_reduce_line", ("memory of", "impl"), ("ranks", "ranks"), ("library", "rank_library"), ("way", "comm_way"),
                  ("latency", seconds("alpha_s")), ("bandwidth", lambda r: quantity(number(r, "beta_bytes_per_s"), "byte/s")), ("off by, at most", lambda r: percent(number(r, "off"))))]
    return [t for t in made if t["rows"]]


def compared(kinds):
    sections = []
    for record in kinds.get("compared", []):
        file = text(record, "file")
        if record.get("is_figures") == 0:
            continue # of another kind: what was verified, ceilings
        rows = [r for r in kinds.get("compare", []) if text(r, "file") == file]
        sections.append({"was": os.path.basename(text(record, "was")), "is": os.path.basename(file), "reason": text(record, "reason"),
                         "figures": (record.get("was_figures"), record.get("is_figures")),
                         "differences": [r for r in kinds.get("difference", []) if text(r, "file") == file],
                         "rows": [{"name": text(r, "name"), "verdict": text(r, "verdict"), "reason": text(r, "reason"),
                                   "tone": "bad" if text(r, "verdict") == "SLOWER" else "doubt" if text(r, "verdict") == "CANNOT TELL" else "good",
                                   "ratio": number(r, "ratio"), "a": text(r, "a"), "b": text(r, "b"), "runs": (r.get("a_runs"), r.get("b_runs")),
                                   "interval": f"{number(r, 'ratio_low'):.3f} to {number(r, 'ratio_high'):.3f}" if number(r, "ratio_high") else ""} for r in rows]})
    return sections


def passes(records):
    """For each training that was profiled: its passes, those that take most of an epoch first."""
    runs = {}
    for record in records:
        runs.setdefault((record.get("environment"), record.get("group")), []).append(record)
    made = []
    for members in runs.values():
        first = members[0]
        rows = [{"layer": text(r, "layer"), "pass": words(text(r, "pass"), text(r, "phase")), "choice": text(r, "choice"), "time": text(r, "time"),
                 "seconds": number(r, "seconds") or 0, "share": number(r, "share"), "times": r.get("times"), "epochs": r.get("count", 0)} for r in members]
        rows.sort(key=lambda row: -row["seconds"])
        made.append({"title": words(text(first, "name"), text(first, "net"), "batch", first.get("batch")),
                     "facts": words(text(first, "data") + ",", text(first, "dtype"), text(first, "layout") + ",", f"{first['threads']} thread{'s' if first['threads'] != 1 else ''}," if number(first, "threads") else "",
                                    knobs(first), "on", text(first, "machine")),
                     "most": max((row["seconds"] for row in rows), default=0), "rows": rows})
    return made


def mutants(kinds):
    """What became of broken kernels; None without any."""
    if not kinds.get("mutants"):
        return None
    total = kinds["mutants"][0]
    count = lambda field: number(total, field) or 0
    said = f"{grouped(count('mutants'))} broken kernel{'s' if count('mutants') != 1 else ''}, each the real one with one small change: {count('caught')} caught by checks, {count('crash')} killed by a crash, " \
           f"{count('hang')} by a hang, {count('survived')} survived, {count('not_run')} not run."
    date = text(total, "from") if text(total, "from") == text(total, "to") else f"{text(total, 'from')} to {text(total, 'to')}"
    return {"said": said, "held": f"The unchanged kernels held in {grouped(count('held'))} of {grouped(count('runs'))} runs.", "date": date,
            "lists": kinds.get("mutant_list", []), "checks": [r for r in kinds.get("mutant_check", []) if r.get("caught") or r.get("passed")],
            "survivors": [r for r in kinds.get("mutant", []) if r.get("survived")], "not_run": [r for r in kinds.get("mutant", []) if not r.get("survived")]}


def scaling(kinds):
    """Points over ranks as texts, and what there is to say of the models."""
    rows = []
    for r in kinds.get("scaling", []):
        factor = lambda field: f"{number(r, field):.3g}" if number(r, field) is not None else ""
        rows.append([named(r), words(text(r, "net"), text(r, "facts")), r.get("batch"), r.get("ranks"), quantity(number(r, "seconds"), "s"), factor("strong"), factor("weak"),
                     percent(number(r, "efficiency")), quantity(number(r, "comm_step_s"), "s"), percent(number(r, "comm_share")),
                     quantity(number(r, "model_s"), "s"), percent(number(r, "model_off")), text(r, "marks")])
    names = ["kernel", "network", "batch", "ranks", "an epoch", "strong", "weak", "efficiency", "sum a step", "sums", "model", "model off", "marks"]
    keep = [i for i in range(len(names)) if any(row[i] for row in rows)]
    return {"columns": [names[i] for i in keep], "rows": [[row[i] for i in keep] for row in rows], "models": kinds.get("scaling_model", [])}


def tested(records):
    """Weights on test images, in words; which label was taken for which; answers to single images."""
    evals, answers = [], [r for r in records if r.get("record") == "answer"]
    for r in records:
        if r.get("record") != "eval":
            continue
        classes, counts = number(r, "classes"), r.get("confusion")
        whole = isinstance(counts, list) and classes and 0 < classes <= 20 and len(counts) == classes * classes
        known = number(r, "images") is not None and number(r, "correct") is not None
        evals.append({"name": named(r), "net": text(r, "net"), "data": text(r, "data"), "weights": text(r, "weights"),
                      "right": f"{grouped(number(r, 'correct'))} of {grouped(number(r, 'images'))} images" if known else "images",
                      "accuracy": percent(number(r, "accuracy"), 2), "loss": short("loss")(r),
                      "confusion": [counts[i * int(classes):(i + 1) * int(classes)] for i in range(int(classes))] if whole else []})
    rows = [{"name": named(r), "data": text(r, "data"), "index": r.get("index"), "target": r.get("target"),
             "answer": "none" if r.get("answer") == -1 else r.get("answer"), "correct": r.get("correct") is True,
             "probability": percent(number(r, "probability"), 2), "loss": short("loss")(r)} for r in answers[:ANSWERS]]
    return {"evals": evals, "answers": rows, "more": len(answers) - len(rows)}
