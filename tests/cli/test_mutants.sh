#!/usr/bin/env bash
# test_mutants.sh BENCHCNN: what `verify --mutants` makes of programs that it is given as mutants: one that is the unchanged
# implementation has SURVIVED and fails the run; what crashes, hangs or runs nothing is told apart.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
benchcnn=$(realpath "$benchcnn")

# mutant NAME: an entry of the list, and its program from standard input.
mutant() {
    printf 'mutant %s\nwhy test\nof cpu:naive\nverify --op conv --dir FWD --problem ic2ih5oc2kh3\nunit x.c\nin x.c\n-x\n' "$1" >>"$tmp/list.mutants"
    cat >"$tmp/$1"
    chmod +x "$tmp/$1"
}
# expect STATUS PATTERN NAME...
expect() {
    local status=$1 pattern=$2
    shift 2
    "$benchcnn" verify --mutants --mutants-from "$tmp" --quiet --out "$tmp/out.jsonl" "$@" >"$tmp/out" 2>&1
    local got=$?
    [ $got -eq "$status" ] || fail "$*: status $got, not $status: $(cat "$tmp/out")"
    grep -qE "$pattern" "$tmp/out" || fail "$*: no '$pattern' in: $(cat "$tmp/out")"
}

ln -s "$benchcnn" "$tmp/control.cpu"
mutant same <<<"#!/bin/sh
exec '$benchcnn' \"\$@\""
mutant caught <<<"#!/bin/sh
echo '{\"kind\":\"verify\",\"check\":\"exact\",\"state\":\"FAILED\",\"reason\":\"wrong\"}'; exit 1"
mutant mistrusted <<<"#!/bin/sh
echo '{\"kind\":\"verify\",\"check\":\"bound\",\"state\":\"MISTRUSTED\",\"reason\":\"uniform\"}'; exit 1"
mutant crash <<<'#!/bin/sh
kill -SEGV $$'
mutant hang <<<'#!/bin/sh
exec sleep 1000'
mutant usage <<<'#!/bin/sh
echo "benchcnn: bad option" >&2; exit 2'
mutant nothing <<<'#!/bin/sh
exit 3'
mutant silent <<<'#!/bin/sh
exit 1'
mutant missing </dev/null
rm "$tmp/missing"

expect 1 '^same .*SURVIVED' same
grep -q '"mutant":"same".*"state":"SURVIVED"' "$tmp/out.jsonl" || fail "no record of the survivor"
expect 0 '^caught +x +[^S]*test' caught
expect 0 '1 mutants: 1 killed' mistrusted
expect 0 '^crash .*crash' crash
expect 1 '^usage .*broken' usage
expect 1 '^nothing .*broken' nothing
expect 1 '^silent .*broken' silent
expect 1 '^missing .*broken' missing
grep -q 'cannot run' "$tmp/out" || fail "missing: it does not say why"
expect 1 '2 mutants: 1 killed .* 1 SURVIVED' same caught
expect 3 'nothing ran' no_such
expect 2 'unknown implementation' --impl cqu
expect 2 'their list says' --op conv
cp "$tmp/list.mutants" "$tmp/file.c"
expect 2 'file.c is there, and is no kill matrix' --matrix "$tmp/file.c"
cmp -s "$tmp/list.mutants" "$tmp/file.c" || fail "a file was spoiled by a matrix"
expect 0 '1 mutants: 1 killed' --matrix "$tmp/matrix.md" caught
expect 0 '1 mutants: 1 killed' --matrix "$tmp/matrix.md" caught # an older one is replaced
expect 2 'no mutants in .*cmake --build' --mutants-from "$tmp/none"

# An unchanged implementation that fails spoils what its mutants prove.
rm "$tmp/control.cpu" && cp "$tmp/caught" "$tmp/control.cpu"
expect 1 '^control.cpu +x .*FAILED' caught

finish
