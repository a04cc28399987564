#!/usr/bin/env bash
# test_export.sh BENCHCNN: `benchcnn table`: records of every command as text, Markdown and CSV: CSV gives back what the
# records hold, whatever stands in a name; people get units; what else a file holds is said.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"
name='n"a|name, with_all"'
"$benchcnn" bench --impl cpu:direct,cpu:im2col --problem "mb2ic3ih5oc4kh3$name" --dir FWD --min-time 0.002 --max-time 0.01 --warm-up 0 --peaks none \
    --quiet --set cpu.im2col.block_kib=64 --out "$tmp/r.jsonl" >/dev/null || fail bench
"$benchcnn" bench --impl cpu:direct --problem mb2ic3ih5oc4kh3 --dir FWD --math tf32 --peaks none --quiet --out "$tmp/r.jsonl" >/dev/null # unsupported
"$benchcnn" verify --impl cpu:direct --problem mb2ic3ih5oc4kh3 --dir FWD --check bound --quiet --out "$tmp/r.jsonl" >/dev/null || fail verify
"$benchcnn" train --net thesis --impl cpu:direct --data synthetic --images 40,20 --batch 20 --quiet --out "$tmp/r.jsonl" >/dev/null || fail train
printf '{"kind":"process","program":"a b","median_s":2.5,"min_s":2,"max_s":3,"samples":5}\n{"kind":"peak","what":"fma","value":5e11,"unit":"flop/s"}\n' >>"$tmp/r.jsonl"
table() { "$benchcnn" table "$tmp/r.jsonl" "$@" >"$tmp/out" 2>"$tmp/err" || fail "table $*: $(cat "$tmp/err")"; }
value() { grep '"algorithm":"direct"' "$tmp/r.jsonl" | head -1 | grep -o "\"$1\":[^,}]*" | cut -d: -f2; }

# CSV: every field as the record has it; RFC 4180: CRLF, quotes doubled.
table --format csv
[ "$(wc -l <"$tmp/out")" -eq 4 ] || fail "not a heading and three rows: $(cat "$tmp/out")"
[ "$(grep -c $'\r$' "$tmp/out")" -eq 4 ] || fail "lines do not end as RFC 4180 says"
head -1 "$tmp/out" | grep -q '^impl,algorithm,choice,op,problem,dir,dtype,layout,math,threads,knobs,cache,median_s,low_s,high_s,noise,' || fail "headings: $(head -1 "$tmp/out")"
grep -qF 'cpu,direct,,conv,"mb2ic3ih5oc4oh3kh3ph0n""a|name, with_all""",FWD,f32,nchw,f32,' "$tmp/out" || fail "a name is not quoted: $(cat "$tmp/out")"
grep -qF '"{""im2col.block_kib"":64}",hot,' "$tmp/out" || fail "knobs are not quoted: $(cat "$tmp/out")"
grep -qF ",$(value median_s),$(value low_s),$(value high_s)," "$tmp/out" || fail "the median is not the record's: $(cat "$tmp/out")"
grep -q 'tf32,.*,,,,,.*,UNSUPPORTED' "$tmp/out" || fail "what was not timed is left out, or has a time: $(cat "$tmp/out")"

# Markdown: as many cells in each line, though one holds a bar; units; numbers at the right.
table --format markdown
[ "$(sed 's/\\|//g' "$tmp/out" | awk -F'|' '{ print NF }' | sort -u | wc -l)" -eq 1 ] || fail "rows of different lengths: $(cat "$tmp/out")"
grep -qF 'n"a\|name, with_all"' "$tmp/out" || fail "a bar in a cell is not escaped: $(cat "$tmp/out")"
sed -n 1p "$tmp/out" | grep -q '^| impl .*| median |.*| state |$' || fail "headings: $(head -1 "$tmp/out")"
sed -n 2p "$tmp/out" | grep -q '^|---|---|.*|---:|.*|---|$' || fail "no rule below the headings: $(sed -n 2p "$tmp/out")"
grep -qE '\| [0-9.]+ (µs|ms) \|' "$tmp/out" || fail "no units: $(cat "$tmp/out")"
grep -q '| choice |' "$tmp/out" && fail "a column without a value"
table
[ "$(wc -l <"$tmp/out")" -eq 4 ] && [ "$(awk 'NR < 4 { print index($0, NR == 1 ? "dir " : "FWD") }' "$tmp/out" | sort -u | wc -l)" -eq 1 ] || fail "columns do not line up: $(cat "$tmp/out")"

# One kind a table: the others are said, and can be had.
[ "$(grep -c '^beside these: [0-9]* .*--kind [a-z]*$' "$tmp/err")" -eq 4 ] || fail "what else there is, is not said: $(cat "$tmp/err")"
for kind in 'epochs thesis' 'processes 2.50 s' 'checks PASSED' 'ceilings flop/s'; do
    table --kind "${kind%% *}"
    [ "$(wc -l <"$tmp/out")" -eq 2 ] && grep -qF "${kind#* }" "$tmp/out" || fail "--kind ${kind%% *}: $(cat "$tmp/out")"
    [ -s "$tmp/err" ] && fail "what was named needs no word: $(cat "$tmp/err")"
done

grep '"kind":"env"' "$tmp/r.jsonl" >"$tmp/none.jsonl"
refused 'table FILE.jsonl' table
refused "did you mean 'markdown'" table "$tmp/r.jsonl" --format markdwn
refused "did you mean 'epochs'" table "$tmp/r.jsonl" --kind epoch
refused 'holds no record that makes a table' table "$tmp/none.jsonl"
refused 'holds no comparisons' table "$tmp/r.jsonl" --kind comparisons
refused 'nowhere.jsonl' table "$tmp/nowhere.jsonl"
# A file at its limit: the failed write is said, and the lines before it are whole.
(
    ulimit -f 8
    exec "$benchcnn" bench --impl cpu:direct,cpu:naive --net thesis --batch 2 --peaks none --min-time 0.001 --max-time 0.005 \
        --warm-up 0 --out "$tmp/limited.jsonl" >/dev/null 2>"$tmp/err"
)
[ $? -eq 2 ] && grep -q "limited.jsonl" "$tmp/err" || fail "a file at its limit is not said: $(cat "$tmp/err")"
[ -z "$(tail -c 1 "$tmp/limited.jsonl")" ] || fail "a torn line: $(tail -n 1 "$tmp/limited.jsonl")"
if [ -w /dev/full ]; then
    "$benchcnn" table "$tmp/r.jsonl" --format csv >/dev/full 2>"$tmp/err"
    [ $? -eq 2 ] && grep -q 'disk full' "$tmp/err" || fail "a full disk goes unnoticed: $(cat "$tmp/err")"
fi

# JUnit and GitHub: what failed, why, and the command that repeats it; names stay names in XML, and annotations stay lines.
cat >"$tmp/v.jsonl" <<'JSON'
{"kind":"verify","impl":"cpu","algorithm":"direct","op":"conv","problem":"ic3n\"<a&b>\"","dir":"FWD","dtype":"f32","layout":"nchw","check":"exact","state":"PASSED"}
{"kind":"verify","impl":"cpu","algorithm":"direct","op":"conv","problem":"ic3","dir":"FWD","dtype":"f32","layout":"nchw","check":"bound","state":"FAILED","reason":"50 % off: y, x\n::error::no","worst":"y[0]: 1 < 2","repro":"benchcnn verify --impl cpu:direct"}
{"kind":"verify","impl":"cpu","algorithm":"direct","op":"conv","problem":"ic3","dir":"BWD_W","dtype":"f32","layout":"nchw","check":"supports","state":"UNSUPPORTED","reason":"no"}
{"kind":"verify","op":"conv","problem":"zz","check":"supports","state":"REFUSED","reason":"no descriptor"}
JSON
"$benchcnn" table "$tmp/v.jsonl" --format junit >"$tmp/junit.xml" || fail "junit"
if command -v python3 >/dev/null; then
    python3 - "$tmp/junit.xml" <<'PY' || fail "junit: $(cat "$tmp/junit.xml")"
import sys, xml.etree.ElementTree as tree
suite = tree.parse(sys.argv[1]).getroot()
cases = suite.findall('testcase')
assert (suite.get('tests'), suite.get('failures'), suite.get('skipped')) == ('4', '2', '1'), suite.attrib
assert 'n"<a&b>"' in cases[0].get('name') and len(cases[0]) == 0
failure = cases[1].find('failure')
assert failure.get('message').startswith('50 % off') and 'repeat with: benchcnn verify' in failure.text and '1 < 2' in failure.text
assert cases[2].find('skipped').get('message') == 'no'
PY
fi
"$benchcnn" table "$tmp/v.jsonl" --format github >"$tmp/out" || fail "github"
[ "$(grep -c '^::error title=' "$tmp/out")" -eq 2 ] && [ "$(wc -l <"$tmp/out")" -eq 2 ] || fail "annotations: $(cat "$tmp/out")"
grep -qF 'title=cpu%3Adirect conv FWD ic3 f32 nchw bound FAILED::50 %25 off: y, x' "$tmp/out" || fail "annotation: $(cat "$tmp/out")"
refused 'is of what was verified' table "$tmp/r.jsonl" --format junit --kind timings
finish
