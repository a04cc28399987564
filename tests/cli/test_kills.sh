#!/usr/bin/env bash
# test_kills.sh BENCHCNN: `plot kills`: a row a mutant, grouped by list, a full square where a check caught it, a ring where it
# missed it; what crashed, survived or did not run says so. All of it is what the page of the same records says.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"
command -v gnuplot >/dev/null || { echo "SKIPPED: gnuplot is not installed"; exit 77; }

kill_of() { # LIST MUTANT END FAILED PASSED
    printf '{"kind":"kill","mutant":"%s","impl":"cpu","algorithm":"naive","date":"2026-11-2%s","end":"%s","failed":"%s","passed":"%s","list":"%s","asked":"--op conv","why":"it is \\"wrong\\""}\n' \
        "$2" $((${#2} % 9)) "$3" "$4" "$5" "$1"
}
{
    kill_of one first caught exact,bound memory
    kill_of two third crash "" exact
    kill_of one second held "" exact,bound
    kill_of two fourth "not run" "" ""
    kill_of two fifth caught training exact
    kill_of two sixth hang "" ""
    kill_of two seventh broken "" ""
    kill_of one later "not run" "" ""
    kill_of one later caught determinism ""
    kill_of one later "not run" "" ""
    echo '{"kind":"kill","mutant":"control.cpu","impl":"cpu","date":"2026-11-20","end":"held","failed":"","passed":"exact","runs":7,"held":6}'
} >"$tmp/kills.jsonl"
tests=$((tests + 1))
"$benchcnn" plot kills "$tmp/kills.jsonl" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ] || fail "plot kills: $(cat "$tmp/err")"
holds "the heading" "$tmp/kills.svg" "8 broken kernels, each the real one with one small change: 3 caught by checks, 1 killed by a crash, 1 by a hang, 2 survived, 1 not run|held in 6 of 7 runs|exact  1|bound  1|memory  0|determinism  1|first|second|SURVIVED|crash|hang|not run|other"
red() { tr -d '\n' <"$1" | grep -oE "rgb\( *176, *0, *32\)[^/]*" | grep -oE 'second|seventh|SURVIVED|first' | paste -sd' '; }
[ "$(red "$tmp/kills.svg")" = "second seventh SURVIVED SURVIVED" ] || fail "red is: $(red "$tmp/kills.svg")"
"$benchcnn" check "$tmp/kills.jsonl" >"$tmp/out" 2>&1 && grep -q ' 0 fields of another version' "$tmp/out" || fail "records that are none: $(cat "$tmp/out")"

# What gnuplot is given: the cells, by line and check, one list below the other; every row in its place once.
mkdir "$tmp/bin"
printf '#!/bin/sh\ncat >"$KEPT"\nexit 1\n' >"$tmp/bin/gnuplot"
chmod +x "$tmp/bin/gnuplot"
given() { tests=$((tests + 1)); KEPT=$tmp/kept PATH=$tmp/bin:$PATH "$benchcnn" plot kills "$@" --out "$tmp/none" >/dev/null 2>&1; }
block() { sed -n "/^\\\$$1/,/^EOD/p" "$tmp/kept" | grep '^[0-9N]'; }
{ sed '/"end":"not run"/!d' "$tmp/kills.jsonl"; for i in {10..59}; do kill_of many "m$i" caught bound exact; done; cat "$tmp/kills.jsonl"; } >"$tmp/more.jsonl"
given "$tmp/more.jsonl"
[ "$(block rows | wc -l)" -eq 58 ] && [ "$(block rows | cut -d' ' -f1,2 | sort -u | wc -l)" -eq 58 ] || fail "rows in one place: $(block rows)"
[ "$(block cells | wc -l)" -eq $((50 + 2 + 1 + 50 + 1 + 1 + 2 + 1)) ] || fail "$(block cells | wc -l) cells"
[ "$(block rows | cut -d' ' -f1 | sort -u | paste -sd' ')" = "0 1 2 3" ] || fail "not four columns"
block rows | awk '{ if ($1 == column && $2 <= line) bad++; if ($1 < column) bad++; column = $1; line = $2 } END { exit bad }' || fail "rows out of order"

# The records that are kept, and the page of them, agree: as many killed, and each check catches as many.
given results/mutants/*.jsonl
head=$(sed -n 's/^\([0-9]* mutants: .* survived.*\)/\1/p' docs/mutants.md)
killed=$(($(block rows | awk '$3 < 3' | wc -l)))
[[ $head == "$(block rows | wc -l) mutants: $killed killed ($(block rows | awk '$3 == 1' | wc -l) by a crash, $(block rows | awk '$3 == 2' | wc -l) by a hang), 0 survived"* ]] ||
    fail "the page says: $head; $killed are drawn as killed"
sed -n 's/^| \([a-z]*\) | \([0-9]*\) | [0-9]* | .*/\1  \2/p' docs/mutants.md >"$tmp/page"
sed -n "s/^check[0-9]*='\(.*\)'$/\1/p" "$tmp/kept" | diff "$tmp/page" - || fail "the page and the picture count otherwise"

echo '{"kind":"env"}' >"$tmp/empty.jsonl"
refused "no mutants to draw" plot kills "$tmp/empty.jsonl"
refused 'plot kills needs record files' plot kills
KEPT=$tmp/kept PATH=$tmp/bin:$PATH "$benchcnn" plot "$tmp/kills.jsonl" --out "$tmp/none" >/dev/null 2>&1
grep -q "SURVIVED" "$tmp/kept" || fail "without a kind it is not drawn"
finish
