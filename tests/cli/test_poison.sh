#!/usr/bin/env bash
# test_poison.sh BENCHCNN CC [SANITIZERS]: where AddressSanitizer is loaded, a read of one float too many is found even in the
# bytes between an array's end and the next page, with the line of the kernel; honest kernels pass. Without it the same
# read is not seen there: then this test proves nothing, and says so.
set -u
benchcnn=$(realpath "$1") cc=$2 sanitizers=${3:-address}
[[ $sanitizers == *address* ]] || { echo "skipped: the program has another sanitizer" && exit 77; }
asan=$("$cc" -print-file-name=libasan.so)
load=()
if [ -z "${3:-}" ]; then
    [ -f "$asan" ] || { echo "skipped: $cc has no libasan.so" && exit 77; }
    load=("LD_PRELOAD=$asan")
fi
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
ulimit -c 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
problem=mb2ic3ih5oc4oh5kh3ph1 # x: 600 bytes, y: 800, w: 432, b: 16: none ends where a multiple of 64 does

fail() {
    echo "FAILED: $1"
    head -c 4000 "$work/out" | sed 's/^/    /'
    failed=1
}
plugin() { # NAME CODE: the template, with a line more behind the bias's
    sed -E "s|const float \*b = args->b;.*|const float *b = args->b; $2|" impl_template/mine.c >"$work/$1.c"
    "$cc" -O1 -g -fPIC -shared -Iharness "-fsanitize=$sanitizers" -fno-omit-frame-pointer "$work/$1.c" -o "$work/$1.so" -pthread >"$work/out" 2>&1 ||
        fail "compile $1"
}
verify() { # STATUS NAME PREFIX...
    local status=$1 name=$2
    shift 2
    env "$@" timeout -k 5 120 "$benchcnn" verify --plugin "$work/$name.so" --impl mine --dir FWD --problem $problem --quiet >"$work/out" 2>&1 </dev/null
    local got=$?
    [ $got = "$status" ] || fail "$name: status $got instead of $status"
}
plugin honest ''
plugin past_x '(void)*(const volatile float *)((const float *)args->x + 150);'
plugin past_w '(void)*(const volatile float *)((const float *)args->w + 108);'
plugin before_x '(void)*((const volatile char *)args->x - 1);'
plugin past_y '*((volatile char *)args->y + 800) = 0;'
verify 0 honest ${load[@]+"${load[@]}"} BENCHCNN=
for name in past_x past_w before_x past_y; do
    verify 1 "$name" ${load[@]+"${load[@]}"} BENCHCNN=
    grep -q 'AddressSanitizer: use-after-poison' "$work/out" || fail "$name: the sanitizer says nothing"
    grep -qE "#0 .*$name\.c:" "$work/out" || fail "$name: its line is not named"
    grep -q 'survival' "$work/out" || fail "$name: nobody says that the process ended"
done
# what the pages alone see
if [ -z "${3:-}" ]; then
    "$cc" -O1 -fPIC -shared -Iharness "$work/past_x.c" -o "$work/past_x.so" -pthread >"$work/out" 2>&1 || fail "compile once more"
    verify 0 past_x BENCHCNN=
fi
[ $failed = 0 ] && echo "reads of one float too many are found"
exit $failed
