#!/usr/bin/env bash
# matrix.sh FOLDER [PATTERN] >docs/mutants.md: runs all mutants of FOLDER that are built (or those of the pattern), and the
# unchanged programs wherever one of their mutants is asked, and writes the kill matrix. Ends with 0 if all are killed, all
# controls hold, and every check has a mutant that at most two other checks catch.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=$1 pattern=${2:-*}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
checks=$(sed -n 's/^CHECK([A-Z]*, \([a-z]*\),.*/\1/p' "$here/../../verify/checks.inc" | paste -sd' ' -)

# A line a run: number, program, what it is asked (of a control), separated by tabs; and what is wrong with it.
number=0
while IFS=$'\t' read -r name of verify _ _ why; do
    impl=${of%%:*} ask="$of $verify"
    # shellcheck disable=SC2053
    [[ $name == $pattern ]] && [ -x "$folder/$name" ] || continue
    printf '%05d\t%s\t\t%s\n' $((number += 1)) "$name" "$why" >>"$tmp/mutants"
    grep -qF "control.$impl"$'\t'"$ask"$'\t' "$tmp/controls" 2>/dev/null ||
        printf '%05d\tcontrol.%s\t%s\t%s\n' $((90000 + number)) "$impl" "$ask" "nothing: the implementation as it is" >>"$tmp/controls"
done <"$folder/list"
[ -s "$tmp/mutants" ] || { echo "no mutant of $folder is built: cmake --build BUILD_FOLDER --target mutants" >&2; exit 3; }

one() { # NUMBER NAME ASK
    local ask
    read -ra ask <<<"$3"
    "$here/run.sh" "$folder" "$2" ${ask[0]+"${ask[@]}"} >"$tmp/log.$1"
    [ $? -eq 77 ] || tail -1 "$tmp/log.$1" >"$tmp/row.$1"
}
export -f one
export here folder tmp
cut -f1-3 "$tmp/mutants" "$tmp/controls" | tr '\t' '\n' | xargs -d '\n' -n 3 -P "$(nproc)" bash -c 'one "$1" "$2" "$3"' one
for row in "$tmp"/row.*; do
    n=${row##*.}
    printf '%s\t%s\n' "$(cat "$row")" "$(cat "$tmp/mutants" "$tmp/controls" | awk -F'\t' -v n="$n" '$1 == n { print $4 }')"
done >"$tmp/rows"

cat <<'P'
# The kill matrix

Written by `tests/mutants/matrix.sh BUILD_FOLDER/mutants`. Each mutant is the real implementation with one small change in its source
(`tests/mutants/*.mutants`), compiled and verified like any other. `x`: the check failed on at least one problem; `.`: it passed
them all; empty: it had nothing to say. Every row but the unchanged ones must have an `x`, a crash or a hang.
P
awk -F'\t' -v names="$checks" '
    function has(list, name) { return index("," list ",", "," name ",") > 0 }
    function write(name, end, failed, passed, why,    i, text) {
        text = "| `" name "` |"
        for (i = 1; i <= n; i++) text = text " " (has(failed, check[i]) ? "x" : has(passed, check[i]) ? "." : "") " |"
        return text " " (end == "caught" ? "" : end) " | " why " |\n"
    }
    BEGIN { n = split(names, check, " ") }
    $1 ~ /^control\./ {
        controls++
        held += $2 == "held"
        if (!($1 in end)) { order[++joined] = $1; end[$1] = "held" }
        if ($2 != "held") end[$1] = $2
        failed[$1] = failed[$1] "," $3; passed[$1] = passed[$1] "," $4
        next
    }
    {
        mutants++
        ends[$2]++
        others = -1
        known = 0
        for (i = 1; i <= n; i++) others += has($3, check[i])
        for (i = 1; i <= n; i++) if (has($3, check[i])) {
            known = 1
            catches[i]++
            alone[i] += others == 0
            if (!(i in least) || others < least[i]) { least[i] = others; own[i] = $1 }
        }
        table = table write($1, $2 == "caught" && !known ? "x" : $2, $3, $4, $5)
    }
    END {
        killed = ends["caught"] + ends["crash"] + ends["hang"]
        printf "\n%d mutants: %d killed (%d by a crash, %d by a hang), %d survived", mutants, killed, ends["crash"], ends["hang"], ends["held"]
        printf "; the unchanged implementations held in %d of %d runs.\n\n| check | catches | alone | its own |\n|---|--:|--:|---|\n", held, controls
        for (i = 1; i <= n; i++) {
            rest = least[i] == 0 ? "no other check" : "and " least[i] " other" (least[i] == 1 ? "" : "s")
            printf "| %s | %d | %d | %s |\n", check[i], catches[i], alone[i], i in own ? own[i] " (" rest ")" : "none"
            if (!(i in own) || least[i] > 2) unproved = unproved " " check[i]
        }
        printf "\n| mutant |"
        for (i = 1; i <= n; i++) printf " %s |", check[i]
        printf " otherwise | what is wrong |\n|---|"
        for (i = 0; i <= n; i++) printf ":-:|"
        printf "---|\n%s", table
        for (i = 1; i <= joined; i++) printf "%s", write(order[i], end[order[i]], failed[order[i]], passed[order[i]], "nothing: the implementation as it is")
        if (killed == mutants && held == controls && unproved == "") exit 0
        print "matrix.sh: " mutants - killed " mutants not killed, " controls - held " controls failed; checks without a mutant of their own:" unproved > "/dev/stderr"
        exit 1
    }' "$tmp/rows"
