#!/usr/bin/env bash
# test_check.sh BENCHCNN: `benchcnn check`: the table of fields (harness/record/fields.inc) is that of docs/records.md, row by row;
# what every command writes is in it; what is wrong in a file is named by line and field.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"

# ---- The table and the page. Each row of one is a row of the other; `PROSE` is of other pages, or of a sentence.
tests=$((tests + 1))
awk '
    function row(kinds, names, types, unit, meaning) { gsub(/, /, "`, `", names); return kinds " | `" names "` | " types " | " unit " | " meaning }
    function plain(text) { gsub(/^ *\| *| *\| *$/, "", text); gsub(/ *\| */, "|", text); return text }
    FNR == 1 { file++ }
    file == 1 && /^FIELDS\(/ {
        line = $0
        sub(/^FIELDS\(/, "", line); sub(/\)$/, "", line)
        gsub(/\\"/, "\001", line)
        n = 0
        while (match(line, /"[^"]*"/)) { part[++n] = substr(line, RSTART + 1, RLENGTH - 2); line = substr(line, RSTART + RLENGTH) }
        for (i = 1; i <= 4; i++) last[i] = part[n - 4 + i]
        for (i in last) gsub(/\001/, "\"", last[i])
        names = last[1]; gsub(/, /, "`, `", names); names = "`" names "`"
        tail = last[2] (last[3] == "" ? "" : "")
        wanted[names "|" last[2] "|" last[3] "|" last[4]] = 1
        wanted[names "|" last[2] "|" last[4]] = 1
        count++
    }
    file == 2 && /^\| (kind \| )?field \|/ { table = 1; kinds = /\| kind \|/; units = /\| unit \|/; next }
    file == 2 && !/^\|/ { table = 0; if (/`speedup` is made by/) skip = 1; else if ($0 != "") skip = 0 }
    file == 2 && table && !/^\|[-|: ]*$/ && !skip {
        text = plain($0)
        if (kinds) sub(/^[a-z_]*\|/, "", text)
        if (text !~ /^`/) next # a group: *session*
        seen = units ? text : text
        n = split(text, cell, "|")
        key = text
        while (n++ < (units ? 4 : 3)) key = key "|"
        rows++
        if (!(key in wanted)) { print "a row of docs/records.md is not in fields.inc: " key }
    }
    END { print count, rows > "/dev/stderr" }
' harness/record/fields.inc docs/records.md >"$tmp/out" 2>"$tmp/rows"
[ -s "$tmp/out" ] && [ "$(grep -vc 'ranks.md#records' "$tmp/out")" -gt 0 ] && fail "$(grep -v 'ranks.md#records' "$tmp/out" | head -5)"
read -r count rows <"$tmp/rows"
[ "$count" -gt 190 ] && [ "$count" -eq $((rows - 1)) ] || fail "$count rows in fields.inc, $rows in docs/records.md, one of which is told in docs/ranks.md"
sed -n 's/^PROSE([^"]*"[^"]*", "\([a-z_]*\).*/\1/p' harness/record/fields.inc | sort -u | while read -r name; do
    grep -q "\`$name\`" docs/records.md docs/ranks.md || echo "$name"
done >"$tmp/out"
[ -s "$tmp/out" ] && fail "told in no page: $(cat "$tmp/out")"

# ---- What commands write is in the table.
r=$tmp/r.jsonl
on=(--impl cpu:direct,cpu:naive --problem mb2ic3ih5oc4kh3 --dir FWD)
short=(--peaks none --min-time 0.001 --max-time 0.01 --warm-up 0)
job=(--net thesis --impl cpu:direct --data synthetic --images 40,20 --batch 20)
writes() { # COMMAND...: no fault, no field that is not known
    tests=$((tests + 1))
    "$benchcnn" "$@" >"$tmp/said" 2>&1 || fail "'benchcnn $*' ended badly: $(tail -c 300 "$tmp/said")"
    [ -s "$r" ] || cp "$tmp/said" "$r"
    "$benchcnn" check "$r" >"$tmp/out" 2>&1 || fail "what 'benchcnn $*' writes: $(head -3 "$tmp/out")"
    grep -q ' 0 faults, 0 fields of another version' "$tmp/out" || fail "what 'benchcnn $*' writes: $(head -3 "$tmp/out")"
    mv "$r" "$tmp/last.jsonl"
}
writes verify "${on[@]}" --check determinism,bound --out "$r"
writes verify "${on[@]}" --sums --out "$r"
writes verify --impl cpu --fuzz 20 --op act --out "$r"
writes verify "${on[@]}" --check bound --seed 1 --shard 1/2 --out "$r"
writes bench "${on[@]}" "${short[@]}" --samples --out "$r"
cp "$tmp/last.jsonl" "$tmp/bench.jsonl"
writes sweep algorithm "${on[@]:2}" --impl cpu:direct,cpu:naive "${short[@]}" --tune "$tmp/tune.jsonl" --out "$r"
writes train "${job[@]}" --samples --save "$tmp/w.safetensors" --out "$r"
writes train "${job[@]}" --profile --out "$r"
writes train "${job[@]}" --until-loss 100,90 --out "$r"
writes train "${job[@]}" --until-accuracy 0 --out "$r"
writes eval --net thesis --impl cpu:direct --data synthetic --images 0..19 --load "$tmp/w.safetensors" --out "$r"
writes predict --net thesis --impl cpu:direct --data synthetic --images 0,3 --load "$tmp/w.safetensors" --out "$r"
writes compare "$tmp/bench.jsonl" "$tmp/bench.jsonl" --out "$r"
printf 'bench %s --out "$OUT"\n' "${on[*]} ${short[*]}" >"$tmp/recipe"
writes run "$tmp/recipe" --out "$r"
writes list --json
writes describe mb2ic3ih5oc4kh3 --json
mapfile -t published < <(ls results/*.jsonl results/*/*.jsonl | grep -vE '/(pytorch|trainkernel)[.]jsonl')
for each in "$tmp/tune.jsonl" "${published[@]}"; do
    [ -e "$each" ] || continue
    tests=$((tests + 1))
    "$benchcnn" check "$each" >"$tmp/out" 2>/dev/null || fail "$each: $(head -3 "$tmp/out")"
done

# ---- What is wrong: its line, its field, what it must be.
cat >"$tmp/wrong.jsonl" <<'JSON'
{"kind":"conv","impl":"cpu","median_s":"fast"}

not json
{"kind":"conv","median_s":-1,"threads":2.5,"knobs":{"tile":"x"},"verified":"yes","samples_s":[1,"2"]}
{"kind":"conf","impl":"cpu"}
{"kind":"conv","medain_s":1}
{"kind":"env","cpu":7,"implementation":{"gpu":1}}
{"kind":"epoch","seconds":null,"batch":20,"launch_s":-1,"something_new":1}
{"kind":"verify","factor_bits":{"x":24},"order_regular":"no"}
{"kind":"conv","median_s":1e-3,"impl":"\u001b[31m"}
JSON
"$benchcnn" check "$tmp/wrong.jsonl" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] || fail "a file with faults does not end with 1"
tests=$((tests + 1))
says() { grep -qF -- "$tmp/wrong.jsonl:$1" "$tmp/out" || fail "it does not say '$1': $(cat "$tmp/out")"; }
says '1: median_s is "fast", and must be real, s: of a run'
says "3: 'not json' is no record"
says '4: median_s is -1, and must be 0 or more, s'
says '4: threads is 2.5, and must be int'
says '4: knobs is {"tile":"x"}, and must be ints'
says '4: verified is "yes", and must be bool'
says '4: samples_s is [1,"2"], and must be reals'
says "5: kind is 'conf', which this version does not know"
says "6: medain_s is no field of conv that this version knows; did you mean 'median_s'?"
says '7: cpu is 7, and must be text'
says '7: implementation is {"gpu":1}, and must be texts'
says '9: order_regular is "no", and must be bool'
grep -q ':10:' "$tmp/out" && fail "a whole record is refused"
grep -qF 'wrong.jsonl:8: something_new is no field of epoch that this version knows' "$tmp/err" || fail "a field of another version is not told: $(cat "$tmp/err")"
[ "$(tail -1 "$tmp/out")" = '8 records: 12 faults, 2 fields of another version' ] || fail "the count: $(tail -1 "$tmp/out")"
refused 'nowhere.jsonl' check "$tmp/nowhere.jsonl"
refused 'FILE.jsonl' check
: >"$tmp/empty.jsonl"
"$benchcnn" check "$tmp/empty.jsonl" >/dev/null
[ $? -eq 3 ] || fail "a file without records does not end with 3"
finish
