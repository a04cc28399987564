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
# All checks by its author's flags. With sanitizers one check is enough to show what it reads and writes.
plain=$work/mine verify=(verify --impl mine --op conv --dir FWD --quiet --plugin)
if [ -n "${4:-}" ]; then
    expect 0 '0 FAILED [0-9]+ PASSED' "verify, with sanitizers" "$installed" "${verify[@]}" "$so" --check bound
    plain=$work/plain
    cp -r impl_template "$plain"
    make -s -C "$plain" CC="$cc" libmine.so >"$work/out" 2>&1 || fail "make, without sanitizers"
fi
expect 0 '0 FAILED [0-9]+ PASSED' "verify" "$installed" "${verify[@]}" "$plain/libmine.so"
expect 0 'UNSUPPORTED.*direction FWD, only' "its own reason" "$installed" verify --plugin "$so" --impl mine,cpu:direct \
    --op conv --problem mb2ic3ih5oc4oh5kh3ph1 --quiet
expect 0 '"impl":"mine"' "bench" "$installed" bench --plugin "$so" --impl mine,cpu:direct --op conv --dir FWD --json --quiet \
    --problem mb2ic3ih8oc4oh8kh3ph1 --min-time 0.001 --max-time 0.01 --peaks none
expect 0 'network thesis' "an installed network" "$installed" train --net thesis --impl cpu --batch 5 --plan

# The trainer: verified while it trains, in whole and partial batches; what it does not do is its own reason.
# It has no other algorithm: to name the implementation is enough.
trains() { # STATUS PATTERN WHAT OPTIONS...
    expect "${@:1:3}" "$installed" train --plugin "$work/mine/libmine_trainer.so" --impl "${trainer:-mine_trainer:mlp}" --quiet --data synthetic \
        --images 110,30 --batch 20 --net "$work/mlp.net" --optimizer sgd,lr=0.1 "${@:4}"
    grep -q FAILED "$work/out" && fail "$3: FAILED"
}
printf '%s\n' 'input 1 28 28' 'fc 12' relu 'fc 11 bias=0' tanh 'fc 9' sigmoid 'fc 10' identity softmax_cross_entropy >"$work/mlp.net"
trains 0 '^ +2 +[0-9.]+ +[0-9.]+ ' "train" --epochs 2
trainer=mine_trainer trains 0 '^ +1 +[0-9.]+ +[0-9.]+ ' "train with the one trainer that there is"
trainer=mine_trainer trains 2 'chains of fc, .*only: not layer conv1' "train conv with the one trainer that there is" --net thesis
trainer='mine_trainer:*' trains 3 'benchcnn: nothing of --impl mine_trainer:\* can train network thesis' "a glob with nothing left" --net thesis
trains 0 '^ +1 +[0-9.]+ +[0-9.]+ ' "train, images on the host" --data-on host
trains 2 'chains of fc, .*only: not layer conv1' "train with conv" --net thesis
trains 2 'does sgd, without l1, l2' "train with another optimizer" --optimizer adam
trains 2 'does not move images' "train with --shift" --shift 1

# What an unfinished run found of a plug-in counts as long as the plug-in is the same.
again() { # PATTERN WHAT
    sed -i '/"kind":"end"/d' "$work/left" 2>/dev/null
    expect 0 "$1" "$2" "$installed" verify --plugin "$so" --impl mine --op conv --dir FWD --problem 'mb2ic3ih5oc4oh5kh3ph1' \
        --problem 'mb2ic3ih8oc4oh8kh3ph1' --quiet --out "$work/left"
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
refused abi 'speaks interface version [0-9]+.* but this benchcnn speaks'
from old 's/= CNN_ABI_VERSION/= 1/'
refused old 'interface version 1.*impl_template/README.md'
from size 's/sizeof\(cnn_impl\)/sizeof(cnn_impl) + 8/'
refused size 'struct_size is [0-9]+, but must be'
from tiny 's/sizeof\(cnn_impl\)/8/'
refused tiny 'struct_size is 8, but must be'
from ops_size 's/sizeof\(cnn_operations\)/sizeof(cnn_operations) + 8/'
refused ops_size 'ops->struct_size is [0-9]+, but must be'
from ops_tiny 's/sizeof\(cnn_operations\)/0/'
refused ops_tiny 'ops->struct_size is 0, but must be'
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
refused taken "named 'cpu' already.*field 'name'"
from name 's/"mine"/"my own"/'
refused name "letters, digits and _"
echo 'not an object' >"$work/text.so"
refused text 'invalid ELF header|file too short'
refused missing 'No such file'

# ---- One from before tables grew at their ends: what it lacks is not there, all else is as it was.
cp -r "$work/prefix/include" "$work/older"
sed -i -E '/const cnn_(memory|timing|capture|profile|ranges|uploads|peaks|trainers) \*/d; /CNN_OPERATION\(conv_bwd_data/,/CNN_OPERATION\(optimizer_step/d; /cnn_status \(\*gather\)/d' \
    "$work/older/cnn/impl.h"
"$cc" "${flags[@]}" -fPIC -shared -I"$work/older" "$work/mine/mine.c" -o "$work/older.so" >"$work/out" 2>&1 || fail "compile older"
grep -qE 'CNN_OPERATION\((conv_bwd_data|optimizer_step)|\*gather\)|\*(memory|trainers);' "$work/older/cnn/impl.h" && fail "older: it has what it is to lack"
expect 0 'mine:loops' "list older" "$benchcnn" list --plugin "$work/older.so"
expect 0 '0 FAILED [0-9]+ PASSED' "verify older" "$benchcnn" verify --plugin "$work/older.so" --impl mine --op conv --dir FWD --problem mb2ic3ih5oc4oh5kh3ph1 --quiet
expect 3 'UNSUPPORTED.*direction FWD, only' "what older lacks" "$benchcnn" verify --plugin "$work/older.so" --impl mine --op conv --dir BWD_D \
    --problem mb2ic3ih5oc4oh5kh3ph1 --quiet
expect 0 '1 timed and verified' "bench older" "$benchcnn" bench --plugin "$work/older.so" --impl mine --op conv --dir FWD --quiet \
    --problem mb2ic3ih8oc4oh8kh3ph1 --min-time 0.001 --max-time 0.01 --peaks none

# ---- Knobs are asked for with each request.
from knob 's/^static const cnn_impl impl = /static const cnn_knob knobs[] = {{.name = "k", .doc = "a knob", .max = 5}};\n&/; s/\.n_algorithms = .*/& .knobs = knobs, .n_knobs = 1,/; s/^( *)if \(d->flip\)/\1if (request->knobs[0] == 3) return CNN_FAIL(err, CNN_UNSUPPORTED, "not with three");\n&/; s/\? b\[k\] : 0/\&\& plan->knobs[0] < 4 ? b[k] : 0/'
knob=("$benchcnn" verify --plugin "$work/knob.so" --impl mine --op conv --dir FWD --problem mb2ic3ih5oc4oh5kh3ph1 --quiet)
expect 0 '0 FAILED 1 PASSED' "a knob" "${knob[@]}" --set mine.k=2
expect 3 'UNSUPPORTED.*not with three' "a knob in supports" "${knob[@]}" --set mine.k=3
expect 1 '1 FAILED 0 PASSED' "a knob in the kernel" "${knob[@]}" --set mine.k=4

# ---- Wrong results are FAILED; crashes, hangs and exits too, with --isolate, and the rest still runs.
problem='mb2ic3ih5oc4oh5kh3ph1'
one=(--problem "$problem") problems=("${one[@]}" --problem mb2ic3ih8oc4oh8kh3ph1)
two=("${problems[@]}")
# Seconds that a case of NAME gets: few where it takes them all, else more than a busy machine needs.
limit_of() { case $1 in *hang | deaf) echo 4 ;; *) echo 60 ;; esac; }
isolated() { # COMMAND NAME
    "$benchcnn" "$1" --plugin "$work/$2.so" --impl mine,cpu:direct --op conv --dir FWD --isolate --isolate-limit "$(limit_of "$2")" \
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
run crash 1 'survival FAILED: .*signal 11'
timed crash 'mine:loops .*FAILED.*signal 11' 2
from hang "$body for (volatile int i = 0; ; i = 1) { }/"
problems=("${one[@]}") # each hang takes its time
run hang 1 'survival FAILED: .*did not finish in 4 s'
timed hang 'mine:loops .*FAILED.*did not finish in 4 s' 1
problems=("${two[@]}")
from leaves "$body exit(0);/"
run leaves 1 'survival FAILED: .*ended its process itself'
timed leaves 'mine:loops .*FAILED.*ended its process itself' 2

# ---- While it is loaded, registered, opened, closed, asked what it can do.
first='s/^const cnn_impl \*cnn_plugin\(void\) \{/__attribute__((constructor)) static void early(void) { ACT }\n&/'
from early_crash "${first/ACT/*(volatile int *)4096 = 1;}"
run early_crash 1 'FAILED.*early_crash.so . loading it.*signal 11'
timed early_crash 'FAILED.*early_crash.so . loading it.*signal 11' 1
forever='extern int pause(void); for (;;) pause();' # hang and deaf are busy; these leave the processor to others
from early_hang "${first/ACT/$forever}"
run early_hang 1 'FAILED.*early_hang.so . loading it.*did not finish in 4 s'
from early_exit 's/return &impl;/exit(0);/'
run early_exit 1 'FAILED.*early_exit.so . loading it.*ended its process itself'
timed early_exit 'FAILED.*early_exit.so . loading it.*ended its process itself' 1
expect 1 'early_exit.so. ended the process, in the middle of the command' "exit while loading, not isolated" "$benchcnn" list --plugin "$work/early_exit.so"
expect 1 '1 FAILED 0 PASSED' "nothing else chosen" "$benchcnn" verify --plugin "$work/early_exit.so" --impl mine --isolate --quiet
for when in open clos; do
    start="/^static .* mine_$when(e|)\(/,/\{/ s/\{/{ ACT;/"
    from "${when}_crash" "${start/ACT/*(volatile int *)4096 = 1}"
    run "${when}_crash" 1 "FAILED +mine . .*${when}ing .*signal 11"
    timed "${when}_crash" "FAILED +mine . ${when}ing it: .*signal 11" $([ $when = open ] && echo 1 || echo 3) # each case opens more
    from "${when}_exit" "${start/ACT/exit(0)}"
    run "${when}_exit" 1 "FAILED +mine . .*${when}ing .*ended its process itself"
done
from open_hang "/^static .* mine_open\\(/,/\\{/ s/\\{/{ $forever/"
run open_hang 1 'FAILED +mine . opening it: .*did not finish in 4 s'
from gate '/^static cnn_status mine_supports/,/\{/ s/\{/{ *(volatile int *)4096 = 1;/'
run gate 1 'survival FAILED: .*signal 11'
timed gate 'mine:(loops|\*) .*FAILED.*signal 11' 2

# ---- Between cases: opened a second time, closed after it computed, asked for more algorithms. It is lost, its other cases
# with it, and told once; the others keep all of theirs.
between() { # NAME PATTERN [PATTERN OF ITS CASES, HOW MANY]
    local which
    for which in mine,cpu:direct cpu:direct,mine; do
        expect 1 "FAILED +mine . $2" "$1, --impl $which" "$benchcnn" verify --plugin "$work/$1.so" --impl "$which" --op conv --dir FWD \
            --isolate --isolate-limit "$(limit_of "$1")" "${problems[@]}"
        [ "$(grep -c '^FAILED' "$work/out")" -eq 1 ] || fail "$1, --impl $which: told more than once"
        [ "$(grep -c '^PASSED  *cpu:direct' "$work/out")" -eq $((${#problems[@]} / 2)) ] || fail "$1, --impl $which: cases of cpu:direct"
        [ "$(grep -c '^PASSED  *mine:loops' "$work/out")" -eq "${3:-0}" ] || fail "$1, --impl $which: cases of mine"
    done
}
problems=("${two[@]}")
again='opening or closing it, or asking what it can do:'
second='/^static .* mine_open\(/,/\{/ s/\{/{ static int times; if (++times == 2) { ACT; }/'
from second_crash "${second/ACT/*(volatile int *)4096 = 1}"
between second_crash "$again .*signal 11"
from second_exit "${second/ACT/exit(0)}"
between second_exit "$again .*ended its process itself"
from second_hang "${second/ACT/$forever}"
problems=("${one[@]}")
between second_hang "$again .*did not finish in 4 s"
problems=("${two[@]}")
# closed when it computed and one other context is open: that is neither in a case (there are three) nor on its trial
from late "/^static .* mine_open\(/,/\{/ s/\{/{ live++;/; s/free\(context\);/free(context); if (--live == 1 \&\& computed) *(volatile int *)4096 = 1;/; $body computed = 1;/; s/#include <cnn.h>/&\nstatic int live, computed;/"
between late "$again .*signal 11" 2
from asks 's/^static const cnn_impl impl = /static cnn_status more(cnn_context *c, const cnn_request *r, cnn_algorithm *l, int n, int *count, cnn_error *e)\n{ (void)c, (void)r, (void)l, (void)n, (void)e; *count = 0; exit(0); }\n&/; s/\.ops = &ops,/& .enumerate = more,/'
between asks "$again .*ended its process itself"
from tells 's/^static const cnn_impl impl = /static void tell(cnn_context *c, void (*put)(void *, const char *, const char *), void *user) { (void)c, (void)put, (void)user; exit(0); }\n&/; s/\.ops = &ops,/& .describe = tell,/'
run tells 1 'FAILED.*mine.*ended its process itself'
timed tells 'FAILED +mine . asking it about itself: .*ended its process itself' 1

# ---- Its ceilings: numbered, each a failure of its own; those of others, and its other ones, are measured and recorded.
ceilings() { # NAME OPEN RUN CLOSE: a plug-in with three ceilings, of which the second does these
    from "$1" "s/^static const cnn_impl impl = /static cnn_status p_open(cnn_context *c, int i, cnn_peak *p, cnn_error *e)\\n{ (void)c, (void)e; *p = (cnn_peak){.what = \"mine0\", .unit = CNN_PEAK_BYTES, .amount = 8}; p->what[4] += (char)i; if (i == 1) { $2; } return CNN_OK; }\\nstatic cnn_status p_run(cnn_context *c, const cnn_peak *p, cnn_error *e)\\n{ (void)c, (void)e; for (volatile int k = 0; k < 9999; k++) continue; if (p->what[4] == '1') { $3; } return CNN_OK; }\\nstatic void p_close(cnn_context *c, cnn_peak *p) { (void)c; if (p->what[4] == '1') { $4; } }\\nstatic const cnn_peaks peaks[] = {{3, p_open, p_run, p_close}};\\n&/; s/\\.ops = &ops,/& .peaks = peaks,/"
}
measured() { # NAME PATTERN HOW-MANY [LIMIT]: mine's ceilings that are measured; on a busy machine memory's take seconds, too
    local name
    rm -f "$work/peaks.jsonl"
    expect "$([ -n "$2" ] && echo 1 || echo 0)" "${2:-mine0}" "peaks $1" "$benchcnn" peaks --impl cpu,mine --plugin "$work/$1.so" --threads 1 \
        --min-time 0.0001 --isolate --isolate-limit "${4:-300}" --out "$work/peaks.jsonl"
    for name in 'what":"fma' 'what":"triad' 'kind":"env'; do
        grep -q "\"$name" "$work/peaks.jsonl" || fail "peaks $1: no record of $name"
    done
    [ "$(grep -c '"what":"mine' "$work/peaks.jsonl")" -eq "$3" ] || fail "peaks $1: not $3 of its ceilings are recorded"
    [ "$(grep -c '"what":"triad"' "$work/peaks.jsonl")" -eq "$(sort -u "$work/peaks.jsonl" | grep -c '"what":"triad"')" ] ||
        fail "peaks $1: a ceiling is recorded twice"
    [ "$(grep -c '"kind":"env"' "$work/peaks.jsonl")" -eq 1 ] || fail "peaks $1: not one environment"
}
gone='*(volatile int *)4096 = 1'
ceilings peaks_good '' '' ''
began=$SECONDS
measured peaks_good '' 3
ceilings peak_open "$gone" '' ''
measured peak_open 'FAILED +mine, ceiling 2 of 3 . measuring it: .*signal 11' 2
ceilings peak_run '' 'exit(0)' ''
measured peak_run 'FAILED +mine, ceiling 2 of 3 . measuring it: .*ended its process itself' 2
# One ceiling is given as long as all of them took three times over, on this machine, as busy as it is, and a little more.
limit=$((SECONDS - began + 8))
[ $limit -le 45 ] || limit=45
ceilings peak_hang '' "$forever" ''
measured peak_hang "FAILED +mine, ceiling 2 of 3 . measuring it: .*did not finish in $limit s" 2 $limit
ceilings peak_close '' '' "$gone"
measured peak_close 'FAILED +mine, ceiling 2 of 3 . measuring it: .*signal 11' 3
# `bench` measures ceilings first: all is timed, and has a floor, all the same.
before_all() { # NAME
    rm -f "$work/timed.jsonl"
    expect 1 'FAILED +mine, ceiling 2 of 3 . measuring it: .*signal 11' "bench $1" "$benchcnn" bench --plugin "$work/$1.so" \
        --impl mine,cpu:direct --op conv --dir FWD --isolate "${problems[@]}" --min-time 0.001 --max-time 0.01 --threads 1 --out "$work/timed.jsonl"
    [ "$(grep -c '"kind":"conv".*"floor_s".*"verified":' "$work/timed.jsonl")" -eq 4 ] || fail "bench $1: not all were timed with a floor"
    [ "$(grep -c '"kind":"begin"' "$work/timed.jsonl")" -eq 1 ] || fail "bench $1: not one run"
    [ "$(grep -c '"what":"triad"' "$work/timed.jsonl")" -eq 1 ] || fail "bench $1: ceilings are not recorded once"
}
before_all peak_open
rm -f "$work/sweep.jsonl"
expect 1 'FAILED +mine, ceiling 2 of 3 . measuring it: .*signal 11' "sweep peak_open" "$benchcnn" sweep threads --plugin "$work/peak_open.so" \
    --impl mine --dir FWD "${one[@]}" --isolate --min-time 0.001 --max-time 0.01 --threads 2 --out "$work/sweep.jsonl"
grep -q 'points: 2 timed and verified' "$work/out" || fail "sweep peak_open: its points were not timed"
from blind 's/sure/sure/' # no ceilings of its own
expect 0 'mine measures no ceilings: these are its device.s, as measured by cpu$' "peaks of one without" "$benchcnn" peaks \
    --plugin "$work/blind.so" --impl mine --threads 1 --min-time 0.0001
"$benchcnn" peaks --impl cpu --threads 1 --min-time 0.0001 >"$work/out" 2>&1
grep -q 'measures no ceilings' "$work/out" && fail "peaks of cpu: it measures its own"

# ---- Reasons and precisions are summed over all processes.
summary() { grep -E 'UNSUPPORTED: |^precision|cases:' "$work/out" | sed -E 's/ [0-9]+ FAILED| [0-9]+ PASSED|^[0-9]+ cases//g'; }
sums=(verify --seed 1 --plugin "$so" --impl mine,cpu:direct --op conv --dtype f32,f64 --problem "$problem")
"$benchcnn" "${sums[@]}" >"$work/out" 2>&1
whole=$(summary)
[ "$(grep -c UNSUPPORTED <<<"$whole")" -ge 2 ] || fail "sums: no reasons to sum"
"$benchcnn" "${sums[@]}" --isolate >"$work/out" 2>&1
[ "$(summary)" = "$whole" ] || fail "sums: with --isolate the reasons are others"
sums[4]=$work/late.so # one that ends its process when half is done
"$benchcnn" "${sums[@]}" --isolate >"$work/out" 2>&1
[ "$(summary)" = "$whole" ] || fail "sums: over two processes the reasons are others"

# ---- The other commands: what ends its process is told, and the others go on.
rest() { # PATTERN PATTERN COMMAND...: what is told, what goes on
    expect 1 "FAILED +$1" "${*:3}" timeout 100 "$benchcnn" "${@:3}" --isolate
    cat "$work"/rest*.jsonl >>"$work/out" 2>/dev/null
    grep -q -E "$2" "$work/out" || fail "${*:3}: no '$2' behind it"
    rm -f "$work"/rest*.jsonl
}
rest 'plug-in .*early_exit.so . loading it: .*ended its process itself' '^. cpu: ' list --plugin "$work/early_exit.so"
rest 'mine . sweeping FWD .*signal 11' '"kind":"sweep_best","impl":"cpu"' sweep threads --plugin "$work/crash.so" --impl mine,cpu:direct --dir FWD \
    --problem $problem --max-time 0.01 --quiet --out "$work/rest.jsonl"
for which in x:2,3,5,5 w:4,3,3,3; do
    printf "\x93NUMPY\x01\x00\x76\x00%-117s\n" "{'descr': '<f4', 'fortran_order': False, 'shape': (${which#*:})}" >"$work/${which%:*}.npy"
    head -c $((4 * $(tr , '*' <<<"${which#*:}"))) /dev/zero >>"$work/${which%:*}.npy"
done
rest 'mine . computing with it: .*signal 11' 'repeat with' compute --plugin "$work/crash.so" --impl mine --dir FWD --problem $problem \
    --in x="$work/x.npy" --in w="$work/w.npy" --out "$work/y.npy"
sed -E '/^static cnn_status mine_train\(/,/\{/ s/\{/{ *(volatile int *)4096 = 1;/' impl_template/mine_trainer.c >"$work/trainer.c"
"$cc" "${flags[@]}" -fPIC -shared -I"$work/prefix/include" "$work/trainer.c" -o "$work/trainer.so" -lm >"$work/out" 2>&1 || fail "compile trainer"
for command in train 'sweep batch'; do
    rest "mine_trainer:mlp . training with it.*signal 11" '"kind":"epoch","impl":"cpu"' $command --plugin "$work/trainer.so" --impl mine_trainer:mlp,cpu \
        --data synthetic --images 110,30 --batch 20 --net "$work/mlp.net" --optimizer sgd,lr=0.1 --quiet --out "$work/rest.jsonl"
done

expect 1 '^ +20 +[0-9.]+( [a-z]+)? +-$' "the table of all processes" "$benchcnn" train --plugin "$work/trainer.so" --impl cpu,mine_trainer:mlp --isolate \
    --data synthetic --images 110,30 --batch 20 --net "$work/mlp.net" --optimizer sgd,lr=0.1 --quiet

# ---- Without --isolate.
whole() { # NAME STATUS PATTERN: without --isolate
    expect "$2" "$3" "$1, not isolated" "$benchcnn" bench --plugin "$work/$1.so" --impl mine --dir FWD --quiet --problem $problem \
        --max-time 0.01 --peaks none
}
whole leaves 1 'a plug-in .mine, .*leaves.so. ended the process'
for name in leaves crash; do # what was printed before it is not lost, though standard output is no terminal
    "$benchcnn" verify --plugin "$work/$name.so" --impl cpu:direct,mine --op conv --dir FWD --problem $problem >"$work/out" 2>&1
    grep -q 'PASSED  *cpu:direct' "$work/out" || fail "$name: the lines before it are lost"
done
whole crash 1 'a crash, with plug-ins loaded .mine, .*crash.so.*signal 11'
from deaf "s/#include <cnn.h>/#include <cnn.h>\\n#include <signal.h>/; $body signal(SIGALRM, SIG_IGN); signal(SIGTERM, SIG_IGN); for (volatile int i = 0; ; i = 1) { }/"
problems=("${one[@]}")
run deaf 1 'survival FAILED: .*did not finish in 4 s'
from fails "$body return CNN_INTERNAL;/"
expect 1 "repeat: .* --plugin $work/fails.so" "bench's repeat line" "$benchcnn" bench --plugin "$work/fails.so" --impl mine --dir FWD \
    --quiet --problem $problem --max-time 0.01 --peaks none
expect 1 "repeat with: .* --plugin $work/fails.so" "fuzzing's repeat line" "$benchcnn" verify --plugin "$work/fails.so" --impl mine \
    --op conv --dir FWD --dtype f32 --layout nchw --fuzz 20 --quiet
expect 1 'mine: ops->conv_fwd returned the status [0-9]+ \(internal error\), and gave no reason' "no text" "$benchcnn" verify \
    --plugin "$work/fails.so" --impl mine --dir FWD --quiet --problem $problem
# a NaN that stood in y and stands there again: it was read, or nothing was written
from reads 's/args->beta != 0 \? y\[i\] \+ sum : sum/args->beta * y[i] + sum/'
run reads 1 'memory FAILED: read y, .*beta 0'
from unwritten 's/( *)y\[i\] = args->beta/\1if (h > 0) &/'
run unwritten 1 'memory FAILED: left y unwritten at element 0'
from unwritten "$body if (b) return CNN_OK;/"
run unwritten 1 'FAILED.*mine:loops'
from beyond "$body ((float *)args->y)[d->mb * d->oc * d->oh * d->ow] = 1;/"
run beyond 1 'FAILED.*mine:loops'
# where every tap lies in the padding, zeros are the right answer: they must have been written
nothing=(--op conv --dir FWD --no-bias --problem mb2ic3ih1oc4oh1kh2ph2dh4 --quiet)
expect 0 '0 FAILED 1 PASSED' "zeros" "$benchcnn" verify --impl cpu:naive "${nothing[@]}"
from idle "$body return CNN_OK;/"
expect 1 'exact FAILED' "zeros that nobody writes" "$benchcnn" verify --plugin "$work/idle.so" --impl mine "${nothing[@]}"
from scribbles "$body ((float *)args->x)[0] = 1;/"
run scribbles 1 'FAILED.*mine:loops'
exit $failed
