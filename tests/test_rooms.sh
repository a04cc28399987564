#!/usr/bin/env bash
# test_rooms.sh [ROOT]: no include runs upwards, nor to a room beside it on the same floor. The floors stand below, from the
# ground up; a room is a folder with all folders in it that have no floor of their own. An implementation knows cnn.h, what
# kernels share (harness/cpu, harness/cuda) and the ground.
set -u
root=${1:-.} failed=0 seen=0
floors='
harness
harness/base
harness/cpu harness/problem harness/process
harness/ranks
harness/cuda harness/device
harness/record harness/data
harness/net
impl_*
verify/oracle
verify
bench
cli python'
declare -A floor=()
while read -ra rooms; do
    for room in "${rooms[@]}"; do floor[$room]=${#floor[@]}; done
    for room in "${rooms[@]}"; do floor[$room]=${floor[${rooms[0]}]}; done
done <<<"$floors"
room_of() { # FILE: into $room and $level
    room=${1%/*} level=
    case $1 in impl_*) room=${1%%/*} level=${floor['impl_*']} ;; esac
    while [ -z "$level" ]; do
        level=${floor[$room]:-}
        [ -n "$level" ] || room=${room%/*}
    done
}
if [ $# -eq 0 ]; then # wrong ones are found: up, beside, by a path with ..
    tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
    mkdir -p "$tmp"/{harness/{base,cpu,problem},verify/oracle,bench,cli,python,impl_{x,y}}
    touch "$tmp/impl_x/mine.h" "$tmp/harness/problem/op.h" "$tmp/verify/verify.h" "$tmp/harness/cpu/threads.h" "$tmp/harness/base/text.h"
    for wrong in 'verify/oracle/case.c ../verify.h' 'harness/problem/cost.c harness/cpu/threads.h' 'harness/base/text.c verify/verify.h' \
        'impl_y/yours.c impl_x/mine.h' 'impl_y/yours.c harness/problem/op.h'; do
        echo "#include \"${wrong#* }\"" >"$tmp/${wrong% *}"
        "$0" "$tmp" >"$tmp/said" && echo "not found: $wrong" && failed=1
        echo '#include "harness/base/text.h"' >"$tmp/${wrong% *}"
    done
    "$0" "$tmp" >"$tmp/said" || { echo "a right one is refused: $(cat "$tmp/said")" && failed=1; }
fi
cd "$root" || exit 2
while IFS=: read -r file line include; do
    include=${include#*\"} include=${include%%\"*}
    target=${file%/*}/$include
    [ -f "$target" ] || target=$include
    [ -f "$target" ] || continue # made by the build
    while [[ $target == */../* ]]; do target=$(sed -E 's,[^/]+/\.\./,,' <<<"$target"); done
    room_of "$file" && from=$room above=$level
    room_of "$target"
    seen=$((seen + 1))
    case $from-$room in
    impl_*-harness | impl_*-harness/base | impl_*-harness/cpu | impl_*-harness/cuda) continue ;;
    impl_*-harness*) ;;
    *) [ "$from" = "$room" ] || [ "$above" -gt "$level" ] && continue ;;
    esac
    echo "$file:$line: includes $target: $from does not know $room, which is above or beside it"
    failed=1
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' harness verify bench cli python impl_* \
    --include='*.[ch]' --include='*.inc' --include='*.cu' --include='*.cpp')
[ "$seen" -gt 0 ] || { echo "no include was found in $PWD" && exit 1; }
echo "$seen includes looked at"
exit $failed
