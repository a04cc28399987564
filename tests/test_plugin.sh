#!/usr/bin/env bash
# test_plugin.sh BENCHCNN BUILD_FOLDER CC [SANITIZERS]: impl_template, built alone against what `cmake --install` puts down, is verified,
# timed and listed like any other; plug-ins that are wrong, crash, hang or write where they must not are told as such. With
# SANITIZERS (address,undefined) plug-ins are built with them, too.
set -u
benchcnn=$1 build=$2 cc=$3
flags=(-O1)
[ -z "${4:-}" ] || flags+=("-fsanitize=$4" -fno-omit-frame-pointer -fno-sanitize-recover=all)
# A deliberate crash is to end its process, not to be reported by a sanitizer, which would exit.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "FAILED: $1"
    sed 's/^/    /' "$work/out"
    failed=1
}
# expect STATUS PATTERN WHAT COMMAND...: the exit status, and a line that matches
expect() {
    local status=$1 pattern=$2 what=$3
    shift 3
    "$@" >"$work/out" 2>&1
    local got=$?
    [ $got = "$status" ] || fail "$what: status $got instead of $status"
    grep -q -E -- "$pattern" "$work/out" || fail "$what: no line like '$pattern'"
}

# ---- The template, as its author would: install, copy the folder, make.
cmake --install "$build" --prefix "$work/prefix" >"$work/out" 2>&1 || fail "install"
cp -r impl_template "$work/mine"
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name benchcnn.pc)")
make -s -C "$work/mine" CC="$cc" CFLAGS="${flags[*]}" >"$work/out" 2>&1 || fail "make"
so=$work/mine/libmine.so
installed=$work/prefix/bin/benchcnn
expect 0 'mine:loops' "list" "$installed" list --plugin "$so"
expect 0 '0 FAILED [0-9]+ PASSED' "verify" "$installed" verify --plugin "$so" --impl mine --op conv --dir FWD --quiet
expect 0 'UNSUPPORTED.*direction FWD, only' "its own reason" "$installed" verify --plugin "$so" --impl mine,cpu:direct \
    --op conv --problem mb2ic3ih5oc4oh5kh3ph1 --quiet
expect 0 '"impl":"mine"' "bench" "$installed" bench --plugin "$so" --impl mine,cpu:direct --op conv --dir FWD --json --quiet \
    --problem mb2ic3ih8oc4oh8kh3ph1 --min-time 0.001 --max-time 0.01 --peaks none
expect 0 'network thesis' "an installed network" "$installed" train --net thesis --impl cpu --batch 5 --plan

# What an unfinished run found of a plug-in counts as long as the plug-in is the same.
again() { # PATTERN WHAT
    sed -i '/"kind":"end"/d' "$work/left" 2>/dev/null
    expect 0 "$1" "$2" "$installed" verify --plugin "$so" --impl mine --op conv --dir FWD --quiet --out "$work/left"
}
again '0 FAILED' "verify to a file"
again 'cases were finished before' "a plug-in's run goes on"
printf 'rebuilt' >>"$so"
again '0 FAILED' "verify with a plug-in that was rebuilt"
grep -q 'finished before' "$work/out" && fail "another plug-in's cases are kept"

# ---- Wrong ones. from SOURCE NAME FLAGS: a plug-in from a few changed lines of the template.
from() { # NAME SED-SCRIPT
    sed -E "$2" "$work/mine/mine.c" >"$work/$1.c"
    "$cc" "${flags[@]}" -fPIC -shared -I"$work/prefix/include" "$work/$1.c" -o "$work/$1.so" || fail "compile $1"
}
refused() { expect 2 "$2" "$1" "$benchcnn" verify --plugin "$work/$1.so" --impl mine --op conv --dir FWD --quiet; }
from abi 's/= CNN_ABI_VERSION/= CNN_ABI_VERSION + 1/'
refused abi 'speaks interface version [0-9]+ .* but this benchcnn speaks'
from size 's/sizeof\(cnn_impl\)/sizeof(cnn_impl) - 8/'
refused size 'build it against this cnn.h'
from nothing 's/cnn_plugin\(void\) \{/other(void) {/'
refused nothing 'exports no function cnn_plugin'
from null 's/return &impl;/return NULL;/'
refused null 'returns NULL'
from slots 's/\.supports = .*//'
refused slots 'lacks one of'
from none 's/sizeof algorithms \/ sizeof algorithms\[0\]/0/'
refused none 'mine has no algorithms'
from mute 's/if \(\*context == NULL\) return .*/return CNN_DEVICE;/'
expect 1 'mine: open returned the status [0-9]+ \(device error\)' mute "$benchcnn" verify --plugin "$work/mute.so" --impl mine --quiet
from taken 's/"mine"/"cpu"/'
refused taken "named 'cpu' already"
from name 's/"mine"/"my own"/'
refused name "letters, digits and _"
echo 'not an object' >"$work/text.so"
refused text 'invalid ELF header|file too short'
refused missing 'No such file'

# ---- Wrong results are FAILED; crashes, hangs and exits too, with --isolate, and the rest still runs.
problem='mb2ic3ih5oc4oh5kh3ph1'
one=(--problem "$problem") problems=("${one[@]}" --problem mb2ic3ih8oc4oh8kh3ph1)
two=("${problems[@]}")
isolated() { # COMMAND NAME
    "$benchcnn" "$1" --plugin "$work/$2.so" --impl mine,cpu:direct --op conv --dir FWD --isolate --isolate-limit 2 \
        "${problems[@]}" "${@:3}"
}
run() { # NAME STATUS PATTERN
    expect "$2" "$3" "$1" isolated verify "$1"
    [ "$(grep -c 'PASSED  *cpu:direct' "$work/out")" -eq $((${#problems[@]} / 2)) ] || fail "$1: what comes behind it did not run"
}
timed() { # NAME PATTERN: in `bench` it is a failed row, its records too, and the others are timed
    rm -f "$work/timed.jsonl"
    expect 1 "$2" "bench $1" isolated bench "$1" --min-time 0.001 --max-time 0.01 --peaks none --out "$work/timed.jsonl"
    [ "$(grep -c 'cpu:direct.* PASSED' "$work/out")" -eq $((${#problems[@]} / 2)) ] || fail "bench $1: the others were not timed"
    [ "$(grep -c '"state":"FAILED"' "$work/timed.jsonl")" -eq "$3" ] || fail "bench $1: not $3 records of state FAILED"
    [ "$(grep -c '"kind":"begin"' "$work/timed.jsonl")" -eq 1 ] || fail "bench $1: not one run"
    grep -q '"kind":"end"' "$work/timed.jsonl" || fail "bench $1: the run has no end"
}
body='s/const float \*b = args->b;.*/const float *b = args->b;'
# an address that no sanitizer looks at by itself: not 0
from crash "$body *(volatile int *)4096 = 1;/"
run crash 1 'FAILED.*mine:loops.*signal 11'
timed crash 'mine:loops .*FAILED.*signal 11' 2
from hang "$body for (volatile int i = 0; ; i = 1) { }/"
problems=("${one[@]}") # each hang takes its time
run hang 1 'FAILED.*mine:loops.*did not finish in 2 s'
timed hang 'mine:loops .*FAILED.*did not finish in 2 s' 1
problems=("${two[@]}")
from leaves "$body exit(0);/"
run leaves 1 'FAILED.*mine:loops.*ended its process itself'
timed leaves 'mine:loops .*FAILED.*ended its process itself' 2

# ---- While it is loaded, registered, opened, closed, asked what it can do.
first='s/^const cnn_impl \*cnn_plugin\(void\) \{/__attribute__((constructor)) static void early(void) { ACT }\n&/'
from early_crash "${first/ACT/*(volatile int *)4096 = 1;}"
run early_crash 1 'FAILED.*early_crash.so . loading it.*signal 11'
timed early_crash 'FAILED.*early_crash.so . loading it.*signal 11' 1
forever='for (volatile int i = 0; ; i = 1) continue;'
from early_hang "${first/ACT/$forever}"
run early_hang 1 'FAILED.*early_hang.so . loading it.*did not finish in 2 s'
from early_exit 's/return &impl;/exit(0);/'
run early_exit 1 'FAILED.*early_exit.so . loading it.*ended its process itself'
timed early_exit 'FAILED.*early_exit.so . loading it.*ended its process itself' 1
expect 1 'in the middle of the command' "exit while loading, not isolated" "$benchcnn" list --plugin "$work/early_exit.so"
expect 1 '1 FAILED 0 PASSED' "nothing else chosen" "$benchcnn" verify --plugin "$work/early_exit.so" --impl mine --isolate --quiet
for when in open close; do
    start="/^static .* mine_$when\(/,/\{/ s/\{/{ ACT;/"
    from "${when}_crash" "${start/ACT/*(volatile int *)4096 = 1}"
    run "${when}_crash" 1 'FAILED.*mine, plug-in.*opening and closing it.*signal 11'
    timed "${when}_crash" 'FAILED.*mine, plug-in.*opening and closing it.*signal 11' 1
    from "${when}_exit" "${start/ACT/exit(0)}"
    run "${when}_exit" 1 'FAILED.*mine, plug-in.*opening and closing it.*ended its process itself'
done
from open_hang "/^static .* mine_open\\(/,/\\{/ s/\\{/{ $forever/"
run open_hang 1 'FAILED.*mine, plug-in.*opening and closing it.*did not finish in 2 s'
from gate '/^static cnn_status mine_supports/,/\{/ s/\{/{ *(volatile int *)4096 = 1;/'
run gate 1 'FAILED.*mine:loops.*signal 11'
timed gate 'mine:(loops|\*) .*FAILED.*signal 11' 2

# ---- Without --isolate.
whole() { # NAME STATUS PATTERN: without --isolate
    expect "$2" "$3" "$1, not isolated" "$benchcnn" verify --plugin "$work/$1.so" --impl mine --op conv --dir FWD --quiet --problem $problem
}
whole leaves 1 'a plug-in ended the process'
for name in leaves crash; do # what was printed before it is not lost, though standard output is no terminal
    "$benchcnn" verify --plugin "$work/$name.so" --impl cpu:direct,mine --op conv --dir FWD --problem $problem >"$work/out" 2>&1
    grep -q 'PASSED  *cpu:direct' "$work/out" || fail "$name: the lines before it are lost"
done
whole crash 139 'a crash, with plug-ins loaded'
from deaf "s/#include <cnn.h>/#include <cnn.h>\\n#include <signal.h>/; $body signal(SIGALRM, SIG_IGN); signal(SIGTERM, SIG_IGN); for (volatile int i = 0; ; i = 1) { }/"
problems=("${one[@]}")
run deaf 1 'FAILED.*mine:loops.*did not finish in 2 s'
from fails "$body return CNN_INTERNAL;/"
expect 1 "repeat: .* --plugin $work/fails.so" "bench's repeat line" "$benchcnn" bench --plugin "$work/fails.so" --impl mine --dir FWD \
    --quiet --problem $problem --max-time 0.01 --peaks none
expect 1 "repeat with: .* --plugin $work/fails.so" "fuzzing's repeat line" "$benchcnn" verify --plugin "$work/fails.so" --impl mine \
    --op conv --dir FWD --dtype f32 --layout nchw --fuzz 20 --quiet
expect 1 'mine: conv_fwd returned the status [0-9]+ \(internal error\), and gave no reason' "no text" "$benchcnn" verify \
    --plugin "$work/fails.so" --impl mine --dir FWD --quiet --problem $problem
from unwritten "$body if (b) return CNN_OK;/"
run unwritten 1 'FAILED.*mine:loops'
from beyond "$body ((float *)args->y)[d->mb * d->oc * d->oh * d->ow] = 1;/"
run beyond 1 'FAILED.*mine:loops'
from scribbles "$body ((float *)args->x)[0] = 1;/"
run scribbles 1 'FAILED.*mine:loops'
exit $failed
