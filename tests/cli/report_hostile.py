#!/usr/bin/env python3
"""report_hostile.py: records in which every text is hostile, to standard output; with an argument, the texts alone, as
JSON: what a page must show, and obey nowhere."""
import json
import sys

TEXTS = ['"><script>document.title="pwned"</script>', "</script><script>document.title='pwned'</script>", "'\";document.title='pwned'//",
         "`touch pwned`", "$(touch pwned)", "; touch pwned #", "a line\nanother", "\x1b[31mred\x07", "left\u202eright", "{{ 7 * 191 }}",
         "{% include '/etc/passwd' %}", "'.system('touch pwned').'", "\"; system('touch pwned'); #", "@macro ^{x} _{y}", "=cmd|'/C calc'!A1",
         "+SUM(1,2)", "</text></svg><script>document.title='pwned'</script>", "<![CDATA[x]]>", "<!-- not closed", "&lt;b&gt; &amp; &#39;", "&#0; &#x1b; &#none",
         "<img src=x onerror=\"document.title='pwned'\">", "</style><style>body{display:none}</style>", "</title><h1>no", "javascript:alert(1)",
         "\" onclick=\"document.title='pwned'\" x=\"", "%s %n %p", "\\x41 \\u0041", "tab\there", "café µ 日本"]


def records():
    for i, hostile in enumerate(TEXTS):
        def t(more=""):
            return hostile + more
        common = {"impl": t(), "algorithm": t(), "threads": 1, "knobs": {t(): 1}, "warnings": {t(): t()}, "choice": t(" chosen")}
        problem = {"op": "conv", "problem": f'mb2ic3ih5oc4kh3n"{t()}"', "dir": t(), "dtype": t(), "math": t(), "layout": t(), "bias": True, "mode": t()}
        yield {"kind": "begin", "command": t(" begun"), "commit": t(), "build": t()}
        yield {"kind": "env", "date": t(), "command": t(" asked"), "cpu": t(), "os": t(), "kernel": t(), "cores": 2, "memory_bytes": 1 << 30, "version": t(),
               "commit": t(), "compiler": t(), "flags": t(), "build_type": t(), "cpu_governor": t(), "clock_source": t(), "impl": t(),
               "implementation": {"gpu": t(), t(): t()}}
        yield {"kind": "conv", **common, "machine": t(), **problem, "cache": t(), "net": t(), "flops": 1e6, "bytes": 1e3, "samples": 9, "median_s": 1e-5 * (i + 1),
               "low_s": 9e-6 * (i + 1), "high_s": 1.1e-5 * (i + 1), "marks": "noisy," + t(), "floor_s": 1e-6, "floor_by": t(), "floor_marks": t(), "share": 0.1,
               "state": "PASSED", "verified": True, "repro": t(" repeats")}
        yield {"kind": "conv", **common, "machine": t(), **problem, "cache": "cold", "state": t(), "reason": t(" is why"), "repro": t()}
        yield {"kind": "verify", **common, **problem, "check": t(), "state": "FAILED", "budget_used": 2, "precision": t(), "worst": t(), "reason": t(), "repro": t()}
        yield {"kind": "verify", **common, **problem, "check": t(), "state": "PASSED", "repro": t()}
        yield {"kind": "verify", **common, **problem, "check": "supports", "state": "UNSUPPORTED", "reason": t()}
        yield {"kind": "verify", **common, **problem, "check": t(), "state": "SKIPPED", "reason": t()}
        for epoch in (1, 2):
            yield {"kind": "epoch", **common, "net": t(), "net_crc": t(), "data": t(), "data_on": t(), "batch": 10, "dtype": t(), "layout": t(), "math": t(),
                   "optimizer": t(), "schedule": t(), "preprocess": t(), "weights": t(), "seed": 1, "train_images": 10, "test_images": 10, "epoch": epoch,
                   "epochs": 2, "seconds": 1.5, "train_s": 1, "test_s": 0.5, "train_loss": 2 / epoch, "test_loss": 1 / epoch, "test_accuracy": 0.5,
                   "images_per_s": 10, "marks": t(), "verified": True}
        yield {"kind": "peak", "what": t(), "variant": t(), "dtype": t(), "math": t(), "value": 1e12, "unit": t(), "marks": t(), "impl": t(), "machine": t(), "threads": 1}
        yield {"kind": "process", "program": t(), "by": t(), "median_s": 1, "min_s": 1, "max_s": 2, "samples": 3}
        yield {"kind": "compare", "figure": t(), "verdict": t(), "reason": t(), "a_s": 1, "b_s": 2, "ratio": 2}
        yield {"kind": "fuzz", "impl": t(), "algorithm": t(), "op": t(), "seed": 1, "passed": 2, "failed": 0}
        yield {"kind": "sweep_best", "impl": t(), "algorithm": t(), "problem": t(), "dir": t(), "knobs": {t(): 1}, "median_s": 1, "points": 2}
        yield {"kind": "eval", "impl": t(), "net": t(), "data": t(), "weights": t(), "images": 10, "correct": 5, "accuracy": 0.5, "loss": 1, "classes": 2, "confusion": [2, 3, 4, 1]}
        yield {"kind": "answer", "impl": t(), "algorithm": t(), "data": t(), "index": 1, "target": 2, "answer": 3, "correct": False, "probability": 0.5, "loss": 1}
        yield {"kind": "goal", **common, "net": t(), "data": t(), "batch": 10, "goal": 0.5, "goal_of": "loss", "outcome": t(), "epochs": 2, "seconds": 1, "marks": t()}
        yield {"kind": "profile", **common, "net": t(), "data": t(), "batch": 10, "dtype": t(), "layout": t(), "epoch": 1, "layer": t(" layer"), "pass": t(), "phase": t(),
               "seconds": 1, "share": 0.5, "times": 2, "bytes": 10, "flops": 10}
        yield {"kind": "profiled_epoch", **common, "net": t(), "batch": 10, "epoch": 1, "seconds": 1}
        yield {"kind": "tuned", "impl": t(), "op": t(), "problem": t(), "dir": t(), "dtype": t(), "layout": t(), "algorithm": t(), "knobs": {t(): 1}, "median_s": 1}
        yield {"kind": "all_reduce", "impl": t(), "ranks": 2, "rank_library": t(), "comm_way": t(), "bytes": 10, "median_s": 1}
        yield {"kind": "all_reduce_line", "impl": t(), "ranks": 2, "rank_library": t(), "comm_way": t(), "alpha_s": 1, "beta_bytes_per_s": 1}
        yield {"kind": "kill", "mutant": t(f" mutant {i}"), "list": t(" list"), "impl": t(), "date": t(), "end": "held" if i % 2 else "not run", "failed": t(), "passed": t(), "why": t()}
        yield {"kind": t(" is no kind"), "impl": t()}
        yield {"kind": "step", "recipe": t(), "line": 1, "command": t(), "status": 1}


if len(sys.argv) > 1:
    print(json.dumps(TEXTS))
else:
    for record in records():
        print(json.dumps(record))
    # fields of other types than a page expects
    for kind in ("env", "begin", "end", "conv", "verify", "epoch", "peak", "process", "compare", "fuzz", "sweep_best", "eval", "sweep", "answer", "goal", "profile",
                 "profiled_epoch", "tuned", "all_reduce", "all_reduce_line", "kill", "benchmark", "step"):
        for value in (None, True, -1e308, [], {}, [[1]], {"a": {"b": []}}, ""):
            print(json.dumps({"kind": kind, **{f: value for f in
                  ("impl", "algorithm", "problem", "median_s", "seconds", "marks", "state", "knobs", "warnings", "epoch", "batch", "test_loss", "train_loss",
                   "test_accuracy", "share", "floor_s", "low_s", "high_s", "implementation", "cpu", "date", "command", "repro", "value", "ratio", "threads",
                   "sm_mhz_min", "workers", "ranks", "memory_bytes", "round", "budget_used", "op", "machine", "min_s", "accuracy", "status", "unit", "classes", "confusion", "correct", "images", "answer", "goal", "goal_of", "outcome",
                   "layer", "pass", "phase", "times", "bytes", "alpha_s", "mutant", "list", "end", "failed", "passed", "runs", "held", "share")}}))
