#!/usr/bin/env bash
# matrix.sh FOLDER [PATTERN] >RECORDS: runs all mutants of FOLDER that are built (or those of the pattern), and the unchanged
# programs wherever one of their mutants is asked. Writes a record of kind `kill` for each mutant of the lists, also for those that
# are not built here, and one for each unchanged program. page.sh writes the kill matrix of them, `benchcnn plot kills` draws it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
folder=$1 pattern=${2:-*}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# A line a run: number, program, what it is asked (of a control), separated by tabs; then list, of, verify, and what is wrong.
for list in "$here"/*.mutants; do
    awk -f "$here/mutants.awk" "$list" | cut -f1 | sed "s|$|\t$(basename "$list" .mutants)|"
done >"$tmp/lists"
number=0
while IFS=$'\t' read -r name of verify _ _ why; do
    impl=${of%%:*} ask="$of $verify"
    # shellcheck disable=SC2053
    [[ $name == $pattern ]] || continue
    list=$(awk -F'\t' -v name="$name" '$1 == name { print $2 }' "$tmp/lists")
    printf '%05d\t%s\t\t%s\t%s\t%s\t%s\n' $((number += 1)) "$name" "${list:-other}" "$of" "$verify" "$why" >>"$tmp/mutants"
    [ -x "$folder/$name" ] || continue
    grep -qF "control.$impl"$'\t'"$ask"$'\t' "$tmp/controls" 2>/dev/null ||
        printf '%05d\tcontrol.%s\t%s\t\t%s\t\t\n' $((90000 + number)) "$impl" "$ask" "$impl" >>"$tmp/controls"
done <"$folder/list"
[ -s "$tmp/controls" ] || { echo "no mutant of $folder is built: cmake --build BUILD_FOLDER --target mutants" >&2; exit 3; }

one() { # NUMBER NAME ASK
    local ask
    [ -x "$folder/$2" ] || return 0
    read -ra ask <<<"$3"
    "$here/run.sh" "$folder" "$2" ${ask[0]+"${ask[@]}"} >"$tmp/log.$1"
    [ $? -eq 77 ] || tail -1 "$tmp/log.$1" >"$tmp/row.$1"
}
export -f one
export here folder tmp MUTANT_WHOLE=1
cut -f1-3 "$tmp/mutants" "$tmp/controls" | tr '\t' '\n' |
    xargs -d '\n' -n 3 -P "${MUTANT_JOBS:-$(nproc)}" bash -c 'one "$1" "$2" "$3"' one
for row in "$tmp"/row.*; do sed "s|^|${row##*.}\t|" "$row"; done >"$tmp/rows" # number, name, end, failed, passed

awk -F'\t' -v date="$(date -u +%F)" '
    function quoted(text) { gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); return "\"" text "\"" }
    function union(list, more,    i, n, each) {
        n = split(more, each, ",")
        for (i = 1; i <= n; i++) if (index("," list ",", "," each[i] ",") == 0) list = list (list == "" ? "" : ",") each[i]
        return list
    }
    function print_record(name, of, end, failed, passed, rest,    impl) {
        impl = of
        sub(/:.*/, "", impl)
        printf "{\"kind\":\"kill\",\"mutant\":%s,\"impl\":%s,", quoted(name), quoted(impl)
        if (of != impl) printf "\"algorithm\":%s,", quoted(substr(of, length(impl) + 2))
        if (end != "not run") printf "\"date\":\"%s\",", date
        printf "\"end\":\"%s\",\"failed\":\"%s\",\"passed\":\"%s\",%s}\n", end, failed, passed, rest
    }
    FILENAME ~ /rows$/ { end[$1] = $3; failed[$1] = $4; passed[$1] = $5; next }
    FILENAME ~ /mutants$/ {
        print_record($2, $5, $1 in end ? end[$1] : "not run", failed[$1], passed[$1],
            "\"list\":\"" $4 "\",\"asked\":" quoted($6) ",\"why\":" quoted($7))
        next
    }
    $1 in end {
        if (!runs[$2]++) { order[++controls] = $2; of[$2] = $5; ended[$2] = "held" }
        if (end[$1] == "held") held[$2]++; else ended[$2] = end[$1]
        failed[$2] = union(failed[$2], failed[$1])
        passed[$2] = union(passed[$2], passed[$1])
    }
    END {
        for (i = 1; i <= controls; i++) {
            name = order[i]
            print_record(name, of[name], ended[name], failed[name], passed[name], "\"runs\":" runs[name] ",\"held\":" held[name] + 0)
        }
    }' "$tmp/rows" "$tmp/mutants" "$tmp/controls"
