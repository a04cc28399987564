#!/usr/bin/env bash
# test_mutants.sh: lists of mutants and the changes they make (mutants.awk): a mutant that silently is the original must not be
# possible.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
head=$'mutant a.b\nwhy  it is wrong\nof   cpu:naive\nverify --op conv\nunit x.c\nin   x.c\n'

# ---- Lists.
refused() { # LIST WORDS
    printf %s "$1" >"$tmp/list"
    awk -f "$here/mutants.awk" "$tmp/list" >"$tmp/out" 2>"$tmp/err" && fail "'$1' is a list"
    grep -qF -- "$2" "$tmp/err" || fail "of '$1' is not said '$2': $(cat "$tmp/err")"
}
refused $'why x\n' 'before any mutant'
refused $'-x\n' "no 'in' before it"
refused $'mutant a\nwhy x\n-x\n' "no 'in' before it"
refused $'mutant a\nwhy x\n' "has not 'of'"
refused $'mutant a\nof cpu\n' "has not 'why'"
refused "$head" 'has not a change'
refused "$head"$'-x\nin y.c\n' 'has not a change'
refused "$head"$'-x\nunit\n' "'unit' of what?"
refused "$head"$'-x\nof cpu\n' "a second 'of'"
refused "$head"$'-x\nwhere x.c\n' 'none of mutant'
refused "$head"$'-x\nmutant a.b\n' 'a second mutant a.b'
refused $'mutant ../a\n' 'may hold a-z'
refused "$head"$'-x\nmutant c\nof cpu:direct\n-x\n' "mutant c has not 'why'"

printf '# a comment\n\n%s one\n-two\n+2\nin   y.h\n-three\nmutant c\nwhy  as before, in another unit\nunit z.c\nunit v.c\n-x\n' "$head" >"$tmp/one"
printf 'mutant d\nwhy alone\nof   cpu:direct\nverify --op fc\nunit w.c\nin   w.h\n-x\n' >"$tmp/two"
awk -f "$here/mutants.awk" "$tmp/one" "$tmp/two" >"$tmp/out" || fail "a list is refused"
cat >"$tmp/wanted" <<END
a.b	cpu:naive	--op conv	x.c	x.c y.h	it is wrong
c	cpu:naive	--op conv	z.c v.c	y.h	as before, in another unit
d	cpu:direct	--op fc	w.c	w.h	alone
END
diff "$tmp/wanted" "$tmp/out" || fail "another list is read"
sed 1,4d "$tmp/two" | sed '1i mutant e\nwhy  nothing is left of another list' >"$tmp/three"
awk -f "$here/mutants.awk" "$tmp/two" "$tmp/three" >"$tmp/out" 2>"$tmp/err" && fail "an entry takes from another list"
grep -qF "mutant e has not 'of'" "$tmp/err" || fail "$(cat "$tmp/err")"

# ---- Changes.
apply() { # CHANGE SOURCE
    printf '%s%s' "$head" "$1" >"$tmp/list"
    printf %s "$2" >"$tmp/source"
    awk -f "$here/mutants.awk" -v wanted=a.b -v file="${3:-x.c}" "$tmp/list" "$tmp/source" >"$tmp/out" 2>"$tmp/err"
}
becomes() { # CHANGE SOURCE RESULT
    apply "$1" "$2" || fail "'$1' is refused: $(cat "$tmp/err")"
    printf %s "$3" | diff - "$tmp/out" || fail "'$1' makes another text"
}
not_applied() { # CHANGE SOURCE WORDS
    apply "$1" "$2" && fail "'$1' is applied"
    [ ! -s "$tmp/out" ] || fail "'$1' is refused, but a text is written"
    grep -qF -- "$3" "$tmp/err" || fail "of '$1' is not said '$3': $(cat "$tmp/err")"
}
becomes $'-b\n+B\n' $'a\nb\nc\n' $'a\nB\nc\n'
becomes $'-b\n' $'a\nb\nc\n' $'a\nc\n'
becomes $' a\n+ b;\n' $'a\nc\n' $'a\n b;\nc\n'
becomes $' x\n-b\n+B\n' $'b\nx\nb\n' $'b\nx\nB\n'
becomes $'-if (a) b;\n+c\n' $'\tif(a)\t b;\n' $'c\n'   # white space does not count ...
becomes $' x  y\n-z\n' $'   x y\nz\n' $'   x y\n'       # ... and stays where nothing is changed
becomes $'-a\n+b\nin x.c\n-b\n+c\nin y.c\n-z\n' $'a\n' $'c\n' # one after the other, and those of this file only
not_applied $'-d\n' $'a\nb\nc\n' 'has not the text'
not_applied $'-a\n-c\n' $'a\nb\nc\n' 'has not the text'
not_applied $'-b\n+B\n' $'b\nx\nb\n' '2 times'
not_applied $'-b\n+ b\n' $'a\nb\n' 'changes nothing'
not_applied $' b\n' $'a\nb\n' 'changes nothing'
not_applied $'+b\n' $'a\nb\n' 'says not where'
not_applied $'-b\n-c\n' $'a\nb\n' 'has not the text'
apply $'-a\n' $'b\n' z.c && cmp -s "$tmp/source" "$tmp/out" || fail "a file without a change is not the original"
awk -f "$here/mutants.awk" -v wanted=other -v file=x.c "$tmp/list" "$tmp/source" >/dev/null 2>&1 && fail "there is no such mutant"

# ---- The overlay: what is written are copies, what stands beside are links, and the source is not touched.
mkdir -p "$tmp/tree/in" "$tmp/tree/other"
echo a >"$tmp/tree/in/x.c" && echo b >"$tmp/tree/in/y.h" && echo c >"$tmp/tree/in/z.h" && echo d >"$tmp/tree/other/w.h"
sed 's@^in .*@in in/y.h@' <<<"$head"$'-b\n+B' >"$tmp/list"
for _ in once twice; do "$here/mutate.sh" "$tmp/tree" "$tmp/overlay" "$tmp/list" a.b in/x.c in/y.h || fail "mutate.sh"; done
[ "$(cat "$tmp/overlay/in/"*)" = $'a\nB\nc' ] && [ "$(cat "$tmp/tree/in/"*)" = $'a\nb\nc' ] || fail "another tree"
[ -L "$tmp/overlay/in/z.h" ] && [ ! -L "$tmp/overlay/in/x.c" ] && [ ! -L "$tmp/overlay/in/y.h" ] || fail "what is a link"
[ ! -e "$tmp/overlay/other" ] || fail "a folder that was not named"
"$here/mutate.sh" "$tmp/tree" "$tmp/plain" '' control in/y.h && [ "$(cat "$tmp/plain/in/y.h")" = b ] || fail "the control"
"$here/mutate.sh" "$tmp/tree" "$tmp/overlay" "$tmp/list" nobody in/x.c 2>/dev/null && fail "mutate.sh makes a mutant that is none"

# ---- Every list's every change finds its text in the sources as they are now: said here, before anything is compiled.
source=$here/../..
for list in "$source"/tests/mutants/*.mutants "$source"/tests/mistakes/*.mutants; do
    while IFS=$'\t' read -r name _ _ _ files _; do
        for file in $files; do
            said=$(awk -f "$here/mutants.awk" -v wanted="$name" -v file="$file" "$list" "$source/$file" 2>&1 >/dev/null) ||
                fail "$(basename "$list"): $said"
        done
    done < <(awk -f "$here/mutants.awk" "$list")
done

# ---- The page is of the records that are kept.
"$here/page.sh" "$source"/results/mutants/*.jsonl 2>&1 >"$tmp/page" | grep . && fail "the kept records do not prove the checks"
diff "$source/docs/mutants.md" "$tmp/page" >"$tmp/out" ||
    fail "docs/mutants.md is not of the records: tests/mutants/page.sh results/mutants/*.jsonl >docs/mutants.md: $(head -4 "$tmp/out")"

[ $failures -eq 0 ] && echo "all held"
exit $((failures > 0))
