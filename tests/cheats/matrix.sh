#!/usr/bin/env bash
# matrix.sh BENCHCNN FOLDER [PAGE]: runs the whole museum, whose plug-ins are in FOLDER (BUILD/cheats), and writes the page:
# docs/cheats.md, where nothing else is said. With a build that has the emulated GPU or a real one those in CUDA run, too.
set -u
here=$(dirname "$(realpath "$0")")
benchcnn=$1 built=$2 page=${3:-$here/../../docs/cheats.md}
rows=$(mktemp) said=$(mktemp) names=$(mktemp)
trap 'rm -f "$rows" "$said" "$names"' EXIT
failed=0
grep -oE '^[a-z0-9_]+' "$here/list" >"$names"
while read -r name <&3; do
    if [ -f "$built/$name.so" ] && { ! grep -qE "^$name .*needs=gpu" "$here/list" || nvidia-smi -L >"$said" 2>&1; }; then
        "$here/run.sh" "$benchcnn" "$built" "$name" "$rows" >"$said" 2>&1 || { cat "$said" && failed=1; }
    else # it keeps its row
        grep -F "| \`$name\` |" "$page" >>"$rows" ||
            echo "| \`$name\` | | | | | | | | not run yet | $(sed -n '1,/\*\//p' "$here/$name".c* | tr '\n' ' ' | sed -E 's@^/\* @@; s@ *\*/.*@@; s@ +\* +@ @g') |" >>"$rows"
    fi
done 3<"$names"
honest=$(grep -cE '^\| `(cuda_)?honest' "$rows")
open=$(awk -F'|' '$10 ~ /[a-z]/' "$rows" | grep -cvE '`(cuda_)?honest')
cat >"$page" <<END
# The museum of cheats

Written by \`tests/cheats/matrix.sh BENCHCNN BUILD/cheats\`. Each cheat is a plug-in of \`tests/cheats/\` that pretends to compute, to be fast or
to learn, and does not; CTest runs each (\`ctest -R cheat_\`) and holds what the commands come to against its line in \`tests/cheats/list\`.
A command is fooled when it ends with status 0, or records a figure, though what was asked for was not computed; when it does not end; when it
leaves processes, broken records or escape sequences behind. The honest ones must be PASSED in everything.

$(($(wc -l <"$rows") - honest)) cheats and $honest honest plug-ins; $open cheats still fool a command.

Load: refused when it is loaded, registered or opened. Verify: the checks that failed. Bench: its output, or its place in the record, was refused;
honest: it got a figure, which is that of honest work, for what it pretends comes to nothing there.
Clock: what its timer says cannot be. Exit: it ended or crashed the process, and that was told. Records: it was told that something else changed the file. Training: \`train\` gave no figure. The last column but one
names the commands that are fooled today (\`-plain\`: without \`--isolate\` only; \`-isolate\`: with it only).

| cheat | load | verify | bench | clock | exit | records | training | not caught yet | what it does |
|---|:-:|---|:-:|:-:|:-:|:-:|:-:|---|---|
END
cat "$rows" >>"$page"
exit $failed
