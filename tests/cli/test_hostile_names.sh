#!/usr/bin/env bash
# test_hostile_names.sh BENCHCNN: records in which every text is hostile (report_hostile.py: quotes, backticks, $(...), newlines,
# escapes, </script>, gnuplot's commands, formulas) do no harm in a terminal, in CSV for a spreadsheet, in Markdown, in a plot.
# test_report.sh has the same of a page.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"
here=$(realpath "$(dirname "$0")") benchcnn=$(realpath "$benchcnn")
command -v python3 >/dev/null || { echo "SKIPPED: Python 3 is not installed"; exit 77; }
python3 "$here/report_hostile.py" | grep -v '"kind": "[a-z_]*", "impl": \(null\|true\|-1\|\[\|{}\|{"a"\|""\)' >"$tmp/hostile.jsonl"
cd "$tmp" || exit
mkdir bin # what a shell would start
printf '#!/bin/sh\n: >"%s/pwned"\n' "$tmp" >bin/calc
chmod +x bin/calc

obeyed() { # FILE WHAT: no control character, but for line ends
    tests=$((tests + 1))
    LC_ALL=C tr -d '\n\r' <"$1" | LC_ALL=C grep -q $'[\x01-\x1f\x7f]' && fail "$2 hands on a control character: $(LC_ALL=C grep -m1 $'[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]' "$1" | cat -v)"
    [ ! -e pwned ] || fail "$2 ran a name"
    rm -f pwned
}
# ---- A terminal: what is printed, and what is said beside it.
shows() { # COMMAND...
    PATH=$tmp/bin:$PATH "$benchcnn" "$@" >out 2>err </dev/null
    [ $? -lt 100 ] || fail "$* crashed: $(tail -1 err)"
    cat out err >both
    obeyed both "$*"
}
for kind in timings epochs goals processes benchmarks comparisons checks ceilings; do
    shows table hostile.jsonl --kind $kind
    shows table hostile.jsonl --kind $kind --format markdown
done
shows compare hostile.jsonl hostile.jsonl
shows check hostile.jsonl
shows merge hostile.jsonl --out merged.jsonl

# ---- CSV: whole, and no cell that a spreadsheet computes. A cell that is none is as the record has it.
for kind in timings epochs goals processes comparisons checks ceilings; do
    shows table hostile.jsonl --kind $kind --format csv
    tests=$((tests + 1))
    python3 - out "$here/report_hostile.py" >said <<'PY' || fail "CSV of $kind: $(cat said)"
import csv, json, re, subprocess, sys
rows = list(csv.reader(open(sys.argv[1], newline="", encoding="utf-8")))
texts = json.loads(subprocess.check_output([sys.executable, sys.argv[2], "texts"]))
assert len(rows) > 20 and len({len(row) for row in rows}) == 1, "rows of several widths"
number = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.I)
for row in rows:
    for cell in row:
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")) or number.fullmatch(cell), f"a formula: {cell}"
cells = {cell for row in rows for cell in row}
for text in texts:
    shown = re.sub("[\x00-\x1f\x7f\u202e]", lambda m: "".join(f"\\x{byte:02x}" for byte in m.group().encode()), text)
    assert ("'" + shown if shown[0] in "=+-@" else shown) in cells, f"it does not hold {text!r}"
PY
done
printf '{"kind":"peak","what":"fma","variant":"-5","value":-5,"unit":"=1"}\n' >numbers.jsonl
"$benchcnn" table numbers.jsonl --format csv >out
tr -d '\r' <out | grep -q "fma,-5,.*-5,'=1" || fail "numbers are taken for formulas: $(cat out)"

# ---- Plots: gnuplot runs nothing, and each picture is an SVG that shows the names.
if command -v gnuplot >/dev/null; then
    for kind in kills curves; do
        PATH=$tmp/bin:$PATH "$benchcnn" plot $kind hostile.jsonl --out $kind >out 2>err || fail "plot $kind: $(cat err)"
        tr -d '\t' <$kind.svg >both # gnuplot's own
        obeyed both "plot $kind"
        python3 - $kind.svg "$here/report_hostile.py" >said 2>&1 <<'PY' || fail "plot $kind: $(tail -1 said)"
import json, re, subprocess, sys, xml.etree.ElementTree as tree
drawn = "".join(tree.parse(sys.argv[1]).getroot().itertext())
assert tree.parse(sys.argv[1]).getroot().tag.endswith("svg")
assert not [e for e in tree.parse(sys.argv[1]).iter() if e.tag.endswith(("script", "image", "foreignObject"))]
for text in json.loads(subprocess.check_output([sys.executable, sys.argv[2], "texts"])):
    shown = re.sub("[\x00-\x1f\x7f\u202e]", lambda m: "".join(f"\\x{byte:02x}" for byte in m.group().encode()), text).replace("]]>", "]] >").replace("&#", "& #")
    assert shown[:12] in drawn, f"it does not show {text!r}"
PY
    done
    # Every kind, a few names a picture; those of ranks are in test_scaling.sh.
    for kind in epochs curves goals workers bars processes speedup solved roofline sweep errors floor kills; do
        python3 "$here/names_records.py" $kind . || fail "no records of $kind"
        for file in "$kind".*.jsonl; do
            case $kind in epochs) name=() ;; processes) name=(bars) ;; *) name=("$kind") ;; esac
            "$benchcnn" plot "${name[@]}" "$file" --out "${file%.jsonl}" >out 2>err || fail "plot $kind: $(cat err)"
            obeyed err "plot $kind"
        done
        tests=$((tests + 1))
        python3 "$here/names_records.py" look $kind . >said || fail "plot $kind: $(cat said)"
    done
else
    echo "gnuplot is not installed: no picture is drawn"
fi
finish
