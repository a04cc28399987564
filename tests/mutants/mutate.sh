#!/usr/bin/env bash
# mutate.sh SOURCE OVERLAY LIST NAME FILE...: the build's tool: writes these files as mutant NAME of LIST has them; as they
# stand if LIST is ''.
#
# OVERLAY becomes a folder that stands before SOURCE in the search for includes: it has the folders of all FILEs, their other
# files as links to the originals. So a changed header reaches the unit whichever way it is included, and the original tree
# is not touched. What is written are copies, which the build can date.
set -euo pipefail
source=$1 overlay=$2 list=$3 name=$4
for file in "${@:5}"; do dirname "$file"; done | sort -u | while read -r folder; do
    mkdir -p "$overlay/$folder"
    find "$source/$folder" -maxdepth 1 -type f -exec ln -sf -t "$overlay/$folder" {} +
done
for file in "${@:5}"; do
    rm "$overlay/$file"
    if [ -z "$list" ]; then
        cp "$source/$file" "$overlay/$file"
    else
        awk -f "$(dirname "$0")/mutants.awk" -v wanted="$name" -v file="$file" "$list" "$source/$file" >"$overlay/$file"
    fi
done
