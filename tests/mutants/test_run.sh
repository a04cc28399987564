#!/usr/bin/env bash
# test_run.sh BENCHCNN: what run.sh and matrix.sh make of programs that they are given as mutants: one that is the unchanged
# implementation has survived; what crashes, hangs, runs nothing or cannot run is told apart.
set -u
benchcnn=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# mutant NAME: an entry of the list, and its program from standard input.
mutant() {
    printf '%s\tcpu:naive\t--op conv --dir FWD --problem ic2ih5oc2kh3\tx.c\tx.c\ttest\n' "$1" >>"$tmp/list"
    { echo '#!/bin/sh' && cat; } >"$tmp/$1"
    chmod +x "$tmp/$1"
}
# expect STATUS END NAME
expect() {
    MUTANT_SECONDS=5 "$here/run.sh" "$tmp" "$3" >"$tmp/out" 2>&1
    local got=$?
    [ $got -eq "$1" ] || fail "$3: status $got, not $1: $(cat "$tmp/out")"
    grep -qE "$2" "$tmp/out" || fail "$3: no '$2' in: $(cat "$tmp/out")"
}
record() { echo "echo '{\"kind\":\"verify\",\"check\":\"$1\",\"state\":\"$2\",\"reason\":\"so it is\"}'"; }

mutant same <<<"exec '$benchcnn' \"\$@\""
mutant caught <<<"$(record exact FAILED); $(record bound PASSED); exit 1"
mutant mistrusted <<<"$(record bound MISTRUSTED); exit 1"
mutant crash <<<'kill -SEGV $$'
mutant slow <<<'exec sleep 1000'
mutant hang <<<"$(record survival FAILED | sed 's/so it is/it did not finish/'); exit 1"
mutant usage <<<'echo "benchcnn: bad option" >&2; exit 2'
mutant nothing <<<'echo "benchcnn: no GPU" >&2; exit 3'
mutant silent <<<'exit 1'
mutant liar <<<"$(record exact FAILED); exit 0"
mutant two_cases <<<"$(record exact FAILED); case \" \$* \" in *' --fail-fast '*) ;; *) $(record bound FAILED) ;; esac; exit 1"
mutant missing </dev/null
rm "$tmp/missing"

ln -s "$benchcnn" "$tmp/control.cpu"
expect 1 $'^same\theld\t\t.*exact' same
expect 0 $'^caught\tcaught\texact\tbound$' caught
expect 0 '^so it is' caught
expect 0 $'^mistrusted\tcaught\tbound\t$' mistrusted
expect 0 $'^crash\tcrash' crash
expect 1 $'^slow\tbroken' slow
expect 1 'did not end within 5 s' slow
expect 0 $'^hang\thang' hang
expect 1 $'^usage\tbroken' usage
expect 1 'ended with status 2: benchcnn: bad option' usage
expect 0 $'^two_cases\tcaught\texact\t$' two_cases # the first is enough; the matrix asks for all
expect 77 'cannot run here: benchcnn: no GPU' nothing
expect 1 $'^silent\tbroken' silent
expect 1 $'^liar\tbroken' liar
expect 1 $'^missing\tbroken' missing
expect 1 'there is no mutant other' other
"$here/run.sh" "$tmp" same cpu:naive --op conv --dir FWD --problem ic2ih5oc2kh3 >"$tmp/out" || fail "a control does not hold: $(cat "$tmp/out")"
"$here/run.sh" "$tmp" caught cpu:naive --op conv >"$tmp/out" && fail "a control that fails holds"

# The unchanged program must hold in the case that convicts a mutant: it runs once, until it is built anew.
unchanged() { # STATUS [SAYS]: a program that notes its words, and ends so
    printf '#!/bin/sh\nprintf "%%s\\n" "$@" >>"%s/words"\necho "%s"\nexit %s\n' "$tmp" "${2:-}" "$1" >"$tmp/new"
    chmod +x "$tmp/new" && mv "$tmp/new" "$tmp/control.cpu"
}
cat >"$tmp/record" <<'EOF'
{"kind":"verify","check":"bound","state":"PASSED","repro":"benchcnn verify --impl cpu:naive --problem g1"}
{"kind":"verify","check":"exact","state":"FAILED","repro":"benchcnn verify --impl cpu:naive --problem 'g2n\"it'\\''s\"'"}
{"kind":"verify","check":"exact","state":"FAILED","repro":"benchcnn verify --impl cpu:naive --problem g3"}
EOF
mutant convicted <<<"cat '$tmp/record'; exit 1"
unchanged 1
expect 1 $'^convicted\tbroken\t' convicted
expect 1 '^the unchanged program does not hold in the same case' convicted
expect 1 $'^crash\tbroken\t' crash
unchanged 3 '0 cases: 0 FAILED 0 PASSED'
expect 1 $'^convicted\tbroken\t' convicted
unchanged 3 '1 cases: 0 FAILED 0 PASSED 1 UNSUPPORTED (seed 1)'
mutant matrix.padded_at_the_end <<<"cat '$tmp/record'; exit 1" # run.sh names it
expect 0 $'^matrix.padded_at_the_end\tcaught' matrix.padded_at_the_end
expect 1 $'^convicted\tbroken' convicted
unchanged 0
rm "$tmp/words"
expect 0 $'^convicted\tcaught\texact\tbound$' convicted
expect 0 $'^convicted\tcaught' convicted
[ "$(paste -sd' ' "$tmp/words")" = "verify --impl cpu:naive --problem g2n\"it's\" --quiet" ] || fail "another case: $(cat "$tmp/words")"
rm "$tmp/words"
expect 0 $'^crash\tcrash' crash # without a record all that was asked must hold
[ "$(paste -sd' ' "$tmp/words")" = 'verify --impl cpu:naive --op conv --dir FWD --problem ic2ih5oc2kh3 --fail-fast --threads 2 --seed 1 --quiet' ] ||
    fail "not what was asked: $(cat "$tmp/words")"

# The page: every check must have a mutant of its own, so that of one mutant cannot be all.
matrix() {
    MUTANT_SECONDS=5 "$here/matrix.sh" "$tmp" "$1" >"$tmp/records" 2>"$tmp/err" || return
    "$here/page.sh" "$tmp/records" >"$tmp/page" 2>"$tmp/err"
}
ln -sf "$benchcnn" "$tmp/control.cpu"
matrix caught && fail "six checks without a mutant are taken for proved"
grep -q '0 mutants not killed, 0 controls failed; checks without a mutant of their own: bound precision' "$tmp/err" || fail "$(cat "$tmp/err")"
grep -q '^1 mutants: 1 killed (0 by a crash, 0 by a hang), 0 survived; the unchanged implementations held in 1 of 1 runs' "$tmp/page" || fail "$(cat "$tmp/page")"
grep -qF '| `caught` | x | . |  |  |  |  |  |  | test |' "$tmp/page" || fail "no row of the mutant: $(cat "$tmp/page")"
grep -qF '| exact | 1 | 1 | caught (no other check) |' "$tmp/page" || fail "no sums: $(cat "$tmp/page")"
matrix two_cases
grep -q '"mutant":"two_cases".*"failed":"bound,exact"' "$tmp/records" || fail "not all cases: $(cat "$tmp/records")"
matrix same
grep -q '1 mutants not killed' "$tmp/err" || fail "a survivor: $(cat "$tmp/err")"
for check in exact bound precision gradient adjoint memory determinism; do mutant "each.$check" <<<"$(record $check FAILED); exit 1"; done
matrix 'each.*' || fail "all are killed, and every check has its own: $(cat "$tmp/err")"
rm "$tmp/control.cpu" && cp "$tmp/caught" "$tmp/control.cpu" # an unchanged one that fails spoils what its mutants prove
matrix 'each.*' && fail "a control that fails: $(cat "$tmp/page")"
grep -q '1 controls failed' "$tmp/err" || fail "$(cat "$tmp/err")"
matrix no_such
[ $? -eq 3 ] || fail "nothing ran"

# A mutant that is not built is recorded as not run. Of two records of it, the one that ran counts, whichever comes last.
mutant absent </dev/null && rm "$tmp/absent"
cp "$benchcnn" "$tmp/control.cpu"
matrix '*ht'
"$here/matrix.sh" "$tmp" 'a*' >"$tmp/out" 2>&1
[ $? -eq 3 ] || fail "a mutant that is not there ran: $(cat "$tmp/out")"
cp "$tmp/records" "$tmp/first"
MUTANT_SECONDS=5 "$here/matrix.sh" "$tmp" '[ac]*' >"$tmp/records" || fail "matrix.sh: $(cat "$tmp/records")"
grep -q '^{"kind":"kill","mutant":"absent","impl":"cpu","algorithm":"naive","end":"not run","failed":"","passed":"","list":"other","asked":"--op conv ' "$tmp/records" || fail "$(cat "$tmp/records")"
"$here/page.sh" "$tmp/records" >"$tmp/page" 2>/dev/null
grep -q ' survived, 1 not run; ' "$tmp/page" && grep -qF '| `absent` |  |  |  |  |  |  |  | not run | test |' "$tmp/page" || fail "not run: $(cat "$tmp/page")"
sed 's/"mutant":"caught"\(.*\)"end":"caught","failed":"exact"/"mutant":"caught"\1"end":"not run","failed":""/' "$tmp/records" >"$tmp/other"
for order in "records other" "other records"; do
    read -ra files <<<"$order"
    "$here/page.sh" "${files[@]/#/$tmp/}" >"$tmp/page" 2>/dev/null
    grep -qF '| `caught` | x | . |' "$tmp/page" || fail "in this order, $order, it did not run: $(cat "$tmp/page")"
done
"$benchcnn" check "$tmp/records" >"$tmp/out" 2>&1 || fail "records that are none: $(cat "$tmp/out")"

[ $failures -eq 0 ] && echo "all held"
exit $((failures > 0))
