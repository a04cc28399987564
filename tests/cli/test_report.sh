#!/usr/bin/env bash
# test_report.sh BENCHCNN: `benchcnn report`: a page from records of every command, whole and by itself; what it says of them;
# names that would be obeyed; ten thousand records; and, in Chromium and Firefox, no error, no overflow, tables that sort, and prints
# that have every row.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"
here=$(dirname "$0") benchcnn=$(realpath "$benchcnn")
python=
for each in python3 /usr/bin/python3; do
    [ -z "$python" ] && "$each" -I -c 'import jinja2' 2>/dev/null && python=$each
done
if [ -z "$python" ]; then
    echo "Python 3 with Jinja2 is not installed: the page is not tried"
    exit 77
fi
report() { "$benchcnn" report "$@" --out "$tmp/page.html" >"$tmp/out" 2>"$tmp/err" || fail "report $*: $(cat "$tmp/err")"; }
sound() { # RECORDS...: the page is whole, and holds them
    tests=$((tests + 1))
    "$python" "$here/report_page.py" "$tmp/page.html" "$@" >"$tmp/said" || fail "the page of $*: $(cat "$tmp/said")"
}
text() { "$python" -c 'import html, re, sys; print(html.unescape(re.sub("<[^>]*>", "", open(sys.argv[1]).read())))' "$tmp/page.html" >"$tmp/text"; }

# ---- What is refused, in words.
printf '{"kind":"env","cpu":"x"}\n' >"$tmp/env.jsonl"
: >"$tmp/empty.jsonl"
echo 'not a page' >"$tmp/other.html"
mkfifo "$tmp/fifo"
refused 'FILE.jsonl... --out FILE.html' report
refused '--out FILE.html' report "$tmp/env.jsonl"
refused 'nowhere.jsonl' report "$tmp/nowhere.jsonl" --out "$tmp/page.html"
refused 'holds no records' report "$tmp/empty.jsonl" --out "$tmp/page.html"
refused 'is no HTML page' report "$tmp/env.jsonl" --out "$tmp/other.html"
refused 'env.jsonl' report "$tmp/env.jsonl" --out "$tmp/env.jsonl"
refused 'no plain file' report "$tmp/fifo" --out "$tmp/page.html"
refused 'cannot be written' report "$tmp/env.jsonl" --out "$tmp/no/such/folder.html"
[ -e "$tmp/page.html" ] && fail "a page that was refused is there"
mkdir "$tmp/bin"
printf '#!/bin/sh\nexit 3\n' >"$tmp/bin/python3"
chmod +x "$tmp/bin/python3"
if [ "$python" = python3 ] && ! /usr/bin/python3 -I -c 'import jinja2' 2>/dev/null; then
    PATH=$tmp/bin:$PATH "$benchcnn" report "$tmp/env.jsonl" --out "$tmp/page.html" 2>"$tmp/err"
    [ $? -eq 3 ] && grep -q 'apt-get install python3-jinja2' "$tmp/err" || fail "without Jinja2: $(cat "$tmp/err")"
else # the distribution's is taken where another Python comes first and has none
    PATH=$tmp/bin:$PATH report "$tmp/env.jsonl"
fi

# ---- Records of every command.
short=(--min-time 0.002 --max-time 0.02 --warm-up 0 --peaks none --quiet)
r=$tmp/r.jsonl
"$benchcnn" bench --impl cpu:direct,cpu:naive --problem mb2ic3ih5oc4kh3 --dir FWD "${short[@]}" --out "$r" >/dev/null || fail bench
"$benchcnn" bench --impl cpu:direct --problem mb2ic3ih5oc4kh3 --dir FWD --math tf32 "${short[@]}" --out "$r" >/dev/null # unsupported
"$benchcnn" verify --impl cpu:direct,cpu:naive --problem mb2ic3ih5oc4kh3 --check exact,bound --quiet --out "$r" >/dev/null || fail verify
"$benchcnn" train --net thesis --impl cpu:direct --data synthetic --images 40,20 --batch 20 --epochs 6 --quiet --out "$r" >/dev/null || fail train
report "$r"
sound "$r"
text
holds 'the page' "$tmp/text" "6 of 6 cases PASSED; 2 of 2 timed kernels PASSED (1 more UNSUPPORTED); fastest convolution: cpu:|benchcnn bench --impl cpu:direct,cpu:naive|exact, bound"
holds 'the page' "$tmp/text" "of 2|of 1|conv FWD mb2ic3ih5oc4oh3kh3ph0|thesis batch 20|Of 6 timed epochs the reference repeated steps of 6|UNSUPPORTED|f32|hot caches"
grep -q '<h1><span>6 of 6 cases' "$tmp/page.html" || fail "the verdict is not the first line: $(grep '<h1>' "$tmp/page.html")"
# each row's command is whole: what its group shares, and its own
"$python" - "$tmp/page.html" "$r" >"$tmp/said" <<'PY' || fail "commands: $(cat "$tmp/said")"
import html, json, re, sys
page = open(sys.argv[1]).read()
made = set()
for body in re.findall(r'<tbody><tr class="g">.*?<code><span>([^<]*)</span>[^<]*<span>([^<]*)</span>[^<]*<span>([^<]*)</span></code>(.*?)</tbody>', page, re.S):
    for name, cell, word, extra in re.findall(
            r'<tr[^>]*><td>([^<]*)(?:<(?!tr)[^>]*>[^<]*)*?(<td(?: data-m="([^"]*)")?(?: data-s="([^"]*)")?>)\s*(?=<tr|$)', body[3]):
        made.add(html.unescape(body[0] + (word if "data-m" in cell else name.strip()) + body[1] + extra + body[2]))
wanted = {r["repro"] for r in map(json.loads, open(sys.argv[2])) if "repro" in r}
print(wanted - made)
sys.exit(not wanted <= made)
PY
if command -v gnuplot >/dev/null; then
    [ "$(grep -c '<figcaption>' "$tmp/page.html")" -ge 2 ] || fail "epochs and curves are not drawn: $(grep -o 'not drawn[^<]*' "$tmp/page.html")"
fi

# ---- Every kind of record that there is stands on the page, or the page and docs/report.md say that it does not.
"$python" "$here/report_kinds.py" harness/record/fields.inc >"$tmp/kinds.jsonl"
"$benchcnn" check "$tmp/kinds.jsonl" >"$tmp/out" 2>&1 && grep -q ' 0 faults, 0 fields of another version' "$tmp/out" || fail "records of each kind: $(head -3 "$tmp/out")"
every_kind() { "$python" "$here/report_kinds.py" "$1" "$tmp/page.html" "$2" >"$tmp/said"; }
report "$tmp/kinds.jsonl"
sound "$tmp/kinds.jsonl"
cp "$tmp/page.html" "$tmp/kinds.html"
tests=$((tests + 1))
every_kind harness/record/fields.inc docs/report.md || fail "kinds of records: $(cat "$tmp/said")"
# and it fails: of a kind that is new in the table, and of one that the document forgets
{ cat harness/record/fields.inc && echo 'FIELDS("novelty", "name", "text", "", "")'; } >"$tmp/fields.inc"
every_kind "$tmp/fields.inc" docs/report.md && fail "a kind that is nowhere goes unnoticed"
grep -q 'novelty are neither shown' "$tmp/said" || fail "a kind that is nowhere: $(cat "$tmp/said")"
sed '/^- `losses`/d' docs/report.md >"$tmp/report.md"
every_kind harness/record/fields.inc "$tmp/report.md" && fail "docs/report.md may forget a kind"

# ---- Ranks are those of `bench`: intervals that meet share one; the next is behind all of them. What is wrong has none.
row() { # ALGORITHM MEDIAN LOW HIGH [MARKS]
    printf '{"kind":"conv","impl":"cpu","algorithm":"%s","machine":"M","op":"conv","problem":"mb1","dir":"FWD","median_s":%s,"low_s":%s,"high_s":%s,"state":"PASSED","marks":"%s","verified":true,"floor_s":1e-6,"floor_by":"fma f32"}\n' "$1" "$2" "$3" "$4" "${5:-}"
}
{
    row slow 4e-6 3.9e-6 4.1e-6
    row best 2e-6 1.9e-6 2.1e-6
    row tied 2.1e-6 2.05e-6 2.2e-6 noisy
    row beyond 5e-7 5e-7 5e-7 | sed 's/"verified":true/"verified":false/'
    echo '{"kind":"conv","impl":"cpu","algorithm":"wrong","machine":"M","op":"conv","problem":"mb1","dir":"FWD","state":"FAILED","reason":"it is wrong","verified":false}'
    echo '{"kind":"conv","impl":"cpu","algorithm":"elsewhere","machine":"N","op":"conv","problem":"mb1","dir":"FWD","median_s":1e-9,"state":"PASSED"}'
} >"$tmp/ranks.jsonl"
report "$tmp/ranks.jsonl"
sound "$tmp/ranks.jsonl"
"$python" - "$tmp/page.html" >"$tmp/said" <<'PY' || fail "ranks: $(cat "$tmp/said")"
import html, re, sys
page = open(sys.argv[1]).read()
rows = {}
for row in re.findall(r'<tr(?: class=k)?><td>cpu:(\w+)\s*(<td.*)', page):
    rows[row[0]] = [" ".join(html.unescape(re.sub("<[^>]*>", " ", "<td" + cell)).split()) for cell in row[1].split("<td")]
got = rows
print(got)
assert got["best"][4] == "1 = of 3" and got["tied"][4] == "1 = of 3" and got["slow"][4] == "3 of 3", "shared ranks"
assert got["elsewhere"][4] == "1 of 1", "machines are kept apart"
assert "BEYOND" in got["beyond"][5] and got["beyond"][4] == "" and got["wrong"][4] == "" and "it is wrong" in got["wrong"][5]
assert "noisy" in got["tied"][5] and got["best"][3] == "50.0 % of fma f32"
PY
text
holds 'the verdict' "$tmp/text" '5 of 6 timed kernels PASSED, 1 FAILED'

# ---- Names that a browser, a shell, gnuplot or a template would obey are shown, and do nothing.
"$python" "$here/report_hostile.py" >"$tmp/hostile.jsonl"
(cd "$tmp" && "$benchcnn" report hostile.jsonl --against r.jsonl --out page.html >out 2>err) || fail "hostile names: $(cat "$tmp/err")"
HOSTILE=$("$python" "$here/report_hostile.py" texts) sound "$tmp/hostile.jsonl"
[ -e "$tmp/pwned" ] && fail "a name was run"
cp "$tmp/page.html" "$tmp/hostile.html"
# in the pictures, too: there a name is gnuplot's before it is the page's
if command -v gnuplot >/dev/null; then
    "$python" - "$here" >"$tmp/drawn.jsonl" <<'PY'
import json, subprocess, sys
for i, text in enumerate(json.loads(subprocess.check_output([sys.executable, sys.argv[1] + "/report_hostile.py", "texts"]))):
    for epoch in (1, 2, 3, 4, 5):
        print(json.dumps({"kind": "epoch", "impl": text, "algorithm": "a", "threads": 1, "knobs": {}, "net": "n", "net_crc": "1", "data": "d", "batch": 10, "dtype": "f32",
                          "layout": "nchw", "math": "f32", "optimizer": "o", "seed": 1, "train_images": 10, "test_images": 10, "data_on": "device", "graph": False,
                          "epoch": epoch, "epochs": 5, "seconds": 1.5 + i, "train_s": 1, "test_s": 0.5, "train_loss": 2 / epoch, "test_loss": 1 / epoch,
                          "train_accuracy": 0.5, "test_accuracy": 0.5, "images_per_s": 10, "marks": ""}))
PY
    (cd "$tmp" && "$benchcnn" report drawn.jsonl --out page.html >out 2>err) || fail "hostile names in pictures: $(cat "$tmp/err")"
    sound "$tmp/drawn.jsonl"
    [ "$(grep -c '<figcaption>' "$tmp/page.html")" -ge 2 ] || fail "pictures with hostile names: $(grep -o 'not drawn[^<]*' "$tmp/page.html")"
    [ -e "$tmp/pwned" ] && fail "gnuplot ran a name"
    grep -A200 '<figcaption>' "$tmp/page.html" | grep -qF '&lt;script&gt;' || fail "a picture does not show a name with a tag"
fi

# ---- Two sets of records.
# Times given, not measured: how far apart those of a busy machine lie would decide what the comparison says.
"$benchcnn" bench --impl cpu:direct --problem mb2ic3ih5oc4kh3 --dir FWD "${short[@]}" --out "$tmp/once.jsonl" >/dev/null || fail bench
for i in 1 2 3; do
    sed -E 's/"median_s":[^,]*/"median_s":1.'$i'e-05/' "$tmp/once.jsonl" >>"$tmp/a.jsonl"
    sed -E 's/"median_s":[^,]*/"median_s":0.1'$i'/' "$tmp/once.jsonl" >>"$tmp/b.jsonl"
done
report "$tmp/b.jsonl" --against "$tmp/a.jsonl"
sound "$tmp/b.jsonl"
text
holds 'the comparison' "$tmp/text" 'a.jsonl → b.jsonl|1 figure in both|SLOWER'

# ---- Records of other machines, of days: those that this project publishes.
mapfile -t published < <(ls results/h100/*.jsonl results/h200/*.jsonl results/xeon2/*.jsonl | grep -vE '/(pytorch|trainkernel)[.]jsonl')
report "${published[@]}"
sound "${published[@]}"
text
holds 'the published records' "$tmp/text" 'on an NVIDIA H200|on an Intel(R) Xeon(R) Processor|commit 6471de5992b2|cuDNN has no algorithm'
report results/h200/gpu_records.jsonl # a day's: 1,215 kernels, gradients of 60 networks, 13 pictures
[ "$(wc -c <"$tmp/page.html")" -lt 1000000 ] || fail "a day's records make a page of $(wc -c <"$tmp/page.html") bytes"
cp "$tmp/page.html" "$tmp/day.html"
report results/h200/bench_{hot,cold,network}.jsonl results/h200/{peaks,sweep}.jsonl # what one day measured
[ "$(wc -c <"$tmp/page.html")" -lt 1000000 ] || fail "a day's records make a page of $(wc -c <"$tmp/page.html") bytes"

# ---- Ten thousand records: bounds that any machine holds; docs/report.md has what one took.
"$python" - >"$tmp/many.jsonl" <<'PY'
import json, random
source = [json.loads(line) for line in open("results/h200/awnn_table1.jsonl") if '"conv"' in line]
source = [r for r in source if "median_s" in r]
print(open("results/h200/awnn_table1.jsonl").readlines()[1], end="")
random.seed(1)
for i in range(10000):
    r = dict(source[i % len(source)])
    factor = 1 + random.random()
    r.update({f: float(f"{v * factor:.9g}") for f, v in r.items() if f.endswith("_s") and isinstance(v, float)}, problem=r["problem"].replace("awnn", f"n{i // len(source)}"))
    r["repro"] = r["repro"].replace("awnn", f"n{i // len(source)}")
    print(json.dumps(r, separators=(",", ":")))
PY
before=$(date +%s)
# Beyond what the program takes to start, which is the most where it is linked with the CUDA libraries.
held=$("$python" - "$benchcnn" report "$tmp/many.jsonl" --out "$tmp/page.html" 2>"$tmp/err" <<'PY'
import resource, subprocess, sys
def most(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
started = most([sys.argv[1], "--version"])
print(most(sys.argv[1:]) - started)
PY
) || fail "report of 10,000 records: $(cat "$tmp/err")"
took=$(($(date +%s) - before))
[ "${held:-190}" -lt 190 ] || grep -q __asan_init "$benchcnn" || fail "10,000 records take ${held:-?} MB"
sound "$tmp/many.jsonl"
[ "$(wc -c <"$tmp/page.html")" -lt 5000000 ] || fail "10,000 records make a page of $(wc -c <"$tmp/page.html") bytes"
[ $took -le 60 ] || fail "10,000 records took $took s"

# ---- In a browser: Chromium, Firefox, whichever is installed.
opens() { "$python" "$here/report_browser.py" "$1" "$tmp/$2.html" "$tmp/profile_${1##*/}" >"$tmp/said" 2>&1; }
sed 's/--soft: #57606a/--soft: #9aa3ac/' "$tmp/hostile.html" >"$tmp/pale.html"
HOSTILE='[]' "$python" "$here/report_page.py" "$tmp/pale.html" "$tmp/hostile.jsonl" >"$tmp/said" && fail "grey on grey is readable"
grep -q 'soft #9aa3ac on back #ffffff has a contrast of' "$tmp/said" || fail "a contrast that is too low: $(cat "$tmp/said")"
# a page that loads something, does not sort, is too wide, and leaves out of a print what was hidden
sed -e 's|<main>|<main style="min-width:1400px"><img src="http://127.0.0.1:9/x.png">|' -e 's/body\.append(\.\.\.rows\.map(item => item\.row));//' \
    -e '/tr\[hidden\] { display: table-row/d; /tbody\[hidden\] { display: table-row-group/d' "$tmp/hostile.html" >"$tmp/broken.html"
for name in chromium chromium-browser google-chrome firefox-esr firefox; do
    browser=$(command -v $name) || continue
    case $name in chromium-browser | google-chrome) [ -n "${chrome:-}" ] && continue ;; firefox) [ -n "${firefox:-}" ] && continue ;; esac
    case $name in firefox*) firefox=1 ;; *) chrome=1 ;; esac
    for page in hostile day kinds; do
        tests=$((tests + 1))
        opens "$browser" $page || fail "$page in $name: $(cat "$tmp/said")"
    done
    opens "$browser" broken && fail "a broken page is whole in $name"
    holds "a broken page in $name" "$tmp/said" 'probed375: up false|prints false|fits false'
    grep -q 'printed1280: .*prints false' "$tmp/said" || fail "in $name a print may leave out rows: $(cat "$tmp/said")"
    [ -n "${firefox:-}" ] || grep -q 'on the console: .*127.0.0.1:9' "$tmp/said" || fail "in $name an error on the console goes unnoticed: $(cat "$tmp/said")"
done
[ -n "${chrome:-}" ] || echo "Chromium is not installed: no page is opened in it"
[ -n "${firefox:-}" ] || echo "Firefox is not installed: no page is opened in it"
finish
