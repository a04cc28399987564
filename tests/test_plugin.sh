#!/usr/bin/env bash
# test_plugin.sh BENCHCNN BUILD_FOLDER CC: impl_template, built alone against what `cmake --install` puts down, is verified,
# timed and listed like any other; plug-ins that are wrong, crash, hang or write where they must not are told as such.
set -u
benchcnn=$1 build=$2 cc=$3
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
make -s -C "$work/mine" CC="$cc" CFLAGS=-O1 >"$work/out" 2>&1 || fail "make"
so=$work/mine/libmine.so
installed=$work/prefix/bin/benchcnn
expect 0 'mine:loops' "list" "$installed" list --plugin "$so"
expect 0 '0 FAILED [0-9]+ PASSED' "verify" "$installed" verify --plugin "$so" --impl mine --op conv --dir FWD --quiet
expect 0 'UNSUPPORTED.*direction FWD, only' "its own reason" "$installed" verify --plugin "$so" --impl mine,cpu:direct \
    --op conv --problem mb2ic3ih5oc4oh5kh3ph1 --quiet
expect 0 '"impl":"mine"' "bench" "$installed" bench --plugin "$so" --impl mine,cpu:direct --op conv --dir FWD --json --quiet \
    --problem mb2ic3ih8oc4oh8kh3ph1 --min-time 0.001 --max-time 0.01 --peaks none
expect 0 'network thesis' "an installed network" "$installed" train --net thesis --impl cpu --batch 5 --plan

# ---- Wrong ones. from SOURCE NAME FLAGS: a plug-in from a few changed lines of the template.
from() { # NAME SED-SCRIPT
    sed -E "$2" "$work/mine/mine.c" >"$work/$1.c"
    "$cc" -O1 -fPIC -shared -I"$work/prefix/include" "$work/$1.c" -o "$work/$1.so" || fail "compile $1"
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
from taken 's/"mine"/"cpu"/'
refused taken "named 'cpu' already"
from name 's/"mine"/"my own"/'
refused name "letters, digits and _"
echo 'not an object' >"$work/text.so"
refused text 'invalid ELF header|file too short'
refused missing 'No such file'

# ---- Wrong results are FAILED; crashes, hangs and exits too, with --isolate, and the rest still runs.
problem='mb2ic3ih5oc4oh5kh3ph1'
run() { # NAME STATUS PATTERN
    expect "$2" "$3" "$1" "$benchcnn" verify --plugin "$work/$1.so" --impl mine,cpu:direct --op conv --dir FWD --quiet --isolate \
        --isolate-limit 2 --problem $problem
    grep -q 'PASSED  *cpu:direct' "$work/out" || fail "$1: what comes behind it did not run"
}
body='s/const float \*b = args->b;.*/const float *b = args->b;'
from crash "$body *(volatile int *)0 = 1;/"
run crash 1 'FAILED.*mine:loops.*signal 11'
from hang "$body for (volatile int i = 0; ; i = 1) { }/"
run hang 1 'FAILED.*mine:loops.*did not finish in 2 s'
from leaves "$body exit(0);/"
run leaves 1 'FAILED.*mine:loops.*ended its process itself'
whole() { # NAME STATUS PATTERN: without --isolate
    expect "$2" "$3" "$1, not isolated" "$benchcnn" verify --plugin "$work/$1.so" --impl mine --op conv --dir FWD --quiet --problem $problem
}
whole leaves 1 'a plug-in ended the process'
for name in leaves crash; do # what was printed before it is not lost, though standard output is no terminal
    "$benchcnn" verify --plugin "$work/$name.so" --impl cpu:direct,mine --op conv --dir FWD --quiet --problem $problem >"$work/out" 2>&1
    grep -q 'PASSED  *cpu:direct' "$work/out" || fail "$name: the lines before it are lost"
done
whole crash 139 'a crash, with plug-ins loaded'
from deaf "s/#include <cnn.h>/#include <cnn.h>\\n#include <signal.h>/; $body signal(SIGALRM, SIG_IGN); signal(SIGTERM, SIG_IGN); for (volatile int i = 0; ; i = 1) { }/"
run deaf 1 'FAILED.*mine:loops.*did not finish in 2 s'
from fails "$body return CNN_INTERNAL;/"
expect 1 "repeat: .* --plugin $work/fails.so" "bench's repeat line" "$benchcnn" bench --plugin "$work/fails.so" --impl mine --dir FWD \
    --quiet --problem $problem --max-time 0.01 --peaks none
expect 1 "repeat with: .* --plugin $work/fails.so" "fuzzing's repeat line" "$benchcnn" verify --plugin "$work/fails.so" --impl mine \
    --op conv --dir FWD --dtype f32 --layout nchw --fuzz 20 --quiet
from unwritten "$body if (b) return CNN_OK;/"
run unwritten 1 'FAILED.*mine:loops'
from beyond "$body ((float *)args->y)[d->mb * d->oc * d->oh * d->ow] = 1;/"
run beyond 1 'FAILED.*mine:loops'
from scribbles "$body ((float *)args->x)[0] = 1;/"
run scribbles 1 'FAILED.*mine:loops'
exit $failed
