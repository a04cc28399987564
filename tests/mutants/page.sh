#!/usr/bin/env bash
# page.sh RECORDS... >docs/mutants.md: writes the kill matrix of what matrix.sh recorded. Of several records of a mutant the last
# one that ran counts. Ends with 0 if all that ran are killed, all controls hold, and every check has a mutant that at most two
# other checks catch.
set -u
here=$(cd "$(dirname "$0")" && pwd)
checks=$(sed -n 's/^CHECK([A-Z]*, \([a-z]*\),.*/\1/p' "$here/../../verify/checks.inc" | paste -sd' ' -)
cat <<'P'
# The kill matrix

Written by `tests/mutants/matrix.sh BUILD_FOLDER/mutants >RECORDS` and `tests/mutants/page.sh results/mutants/*.jsonl`; `benchcnn plot kills results/mutants/*.jsonl`
draws [the same](../results/mutants/kills.svg). Each mutant is the real implementation with one small change in its source
(`tests/mutants/*.mutants`), compiled and verified like any other. `x`: the check failed on at least one problem; `.`: it passed
them all; empty: it had nothing to say. Every row but the unchanged ones must have an `x`, a crash or a hang. `not run`: it was not built where
the others ran, or is younger than these records.
P
awk -v names="$checks" '
    function has(list, name) { return index("," list ",", "," name ",") > 0 }
    # Of a record as matrix.sh writes it.
    function field(key,    at, value) {
        at = index($0, "\"" key "\":\"")
        if (at == 0) return ""
        value = substr($0, at + length(key) + 4)
        gsub(/\\\\/, "\001", value)
        gsub(/\\"/, "\002", value)
        sub(/".*/, "", value)
        gsub(/\002/, "\"", value)
        gsub(/\001/, "\\", value)
        return value
    }
    function number(key) { return match($0, "\"" key "\":[0-9]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0 : 0 }
    function row(name, end, failed, passed, why,    i, text) {
        text = "| `" name "` |"
        for (i = 1; i <= n; i++) text = text " " (has(failed, check[i]) ? "x" : has(passed, check[i]) ? "." : "") " |"
        return text " " (end == "caught" ? "" : end) " | " why " |\n"
    }
    BEGIN { n = split(names, check, " ") }
    !/^\{"kind":"kill",/ { next }
    {
        name = field("mutant")
        if (!(name in end)) order[++rows] = name
        else if (field("end") == "not run") next
        end[name] = field("end"); failed[name] = field("failed"); passed[name] = field("passed"); why[name] = field("why")
        runs[name] = number("runs"); held[name] = number("held")
    }
    END {
        for (r = 1; r <= rows; r++) {
            name = order[r]
            if (name ~ /^control\./) {
                controls += runs[name]
                well += held[name]
                unchanged = unchanged row(name, end[name], failed[name], passed[name], "nothing: the implementation as it is")
                continue
            }
            mutants++
            ends[end[name]]++
            others = -1
            known = 0
            for (i = 1; i <= n; i++) others += has(failed[name], check[i])
            for (i = 1; i <= n; i++) if (has(failed[name], check[i])) {
                known = 1
                catches[i]++
                alone[i] += others == 0
                if (!(i in least) || others < least[i]) { least[i] = others; own[i] = name }
            }
            table = table row(name, end[name] == "caught" && !known ? "x" : end[name], failed[name], passed[name], why[name])
        }
        killed = ends["caught"] + ends["crash"] + ends["hang"]
        survived = mutants - killed - ends["not run"]
        printf "\n%d mutants: %d killed (%d by a crash, %d by a hang), %d survived", mutants, killed, ends["crash"], ends["hang"], survived
        if (ends["not run"]) printf ", %d not run", ends["not run"]
        printf "; the unchanged implementations held in %d of %d runs.\n\n| check | catches | alone | its own |\n|---|--:|--:|---|\n", well, controls
        for (i = 1; i <= n; i++) {
            rest = least[i] == 0 ? "no other check" : "and " least[i] " other" (least[i] == 1 ? "" : "s")
            printf "| %s | %d | %d | %s |\n", check[i], catches[i], alone[i], i in own ? own[i] " (" rest ")" : "none"
            if (!(i in own) || least[i] > 2) unproved = unproved " " check[i]
        }
        printf "\n| mutant |"
        for (i = 1; i <= n; i++) printf " %s |", check[i]
        printf " otherwise | what is wrong |\n|---|"
        for (i = 0; i <= n; i++) printf ":-:|"
        printf "---|\n%s%s", table, unchanged
        if (survived == 0 && well == controls && unproved == "") exit 0
        print "page.sh: " survived " mutants not killed, " controls - well " controls failed; checks without a mutant of their own:" unproved > "/dev/stderr"
        exit 1
    }' "$@"
