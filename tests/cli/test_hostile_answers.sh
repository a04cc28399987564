#!/usr/bin/env bash
# test_hostile_answers.sh BENCHCNN BUILD_FOLDER CC [SANITIZERS]: plug-ins whose answers have no end, no bound or no sense: each is
# refused, or FAILED with its name, in words that a terminal can show; none crashes the program or keeps it.
set -u
benchcnn=$1 build=$2 cc=$3
flags=(-O1)
[ -z "${4:-}" ] || flags+=("-fsanitize=$4" -fno-omit-frame-pointer -fno-sanitize-recover=all)
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_abort=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
cmake --install "$build" --prefix "$work/prefix" >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
problem=(--op conv --dir FWD --problem mb2ic3ih5oc4oh5kh3ph1)

fail() {
    echo "FAILED: $1"
    sed 's/^/    /' "$work/out"
    failed=1
}
# from NAME SED-SCRIPT: a plug-in from a few changed lines of the template.
from() {
    sed -E "$2" impl_template/mine.c >"$work/$1.c"
    cmp -s impl_template/mine.c "$work/$1.c" && fail "$1: nothing was changed"
    "$cc" "${flags[@]}" -fPIC -shared -I"$work/prefix/include" "$work/$1.c" -o "$work/$1.so" >"$work/out" 2>&1 || fail "compile $1"
}
# expect STATUS PATTERN WHAT COMMAND...: the exit status, a line that matches, and nothing that a terminal would obey.
expect() {
    local status=$1 pattern=$2 what=$3
    shift 3
    timeout -s KILL 60 "$@" >"$work/out" 2>&1 </dev/null
    local got=$?
    [ $got = "$status" ] || fail "$what: status $got instead of $status"
    grep -q -E -- "$pattern" "$work/out" || fail "$what: no line like '$pattern'"
    LC_ALL=C grep -q -P '[\x00-\x08\x0b-\x1f\x7f]' "$work/out" && fail "$what: control characters in the output"
    return 0
}
refused() { # NAME SED-SCRIPT PATTERN: when it is registered, by every command
    from "$1" "$2"
    expect 2 "plug-in .*$1.so: .*$3" "list $1" "$benchcnn" list --plugin "$work/$1.so"
    expect 2 "plug-in .*$1.so: .*$3" "verify $1" "$benchcnn" verify --plugin "$work/$1.so" --impl mine "${problem[@]}" --isolate
}
wrong() { # NAME SED-SCRIPT PATTERN: when it answers, by verify and bench, isolated or not
    local isolate
    from "$1" "$2"
    for isolate in '' --isolate; do
        expect 1 "$3" "verify $1 $isolate" "$benchcnn" verify --plugin "$work/$1.so" --impl mine "${problem[@]}" $isolate
        expect 1 "$3" "bench $1 $isolate" "$benchcnn" bench --plugin "$work/$1.so" --impl mine "${problem[@]}" --max-time 0.01 --peaks none $isolate
    done
}

# ---- Its table.
doc='s/\.doc = "convolution forward, as plain as can be"/.doc = DOC/'
name='s/\.name = "loops"/.name = NAME/'
refused null_doc "${doc/DOC/NULL}" 'doc of it is NULL'
refused escaped_doc "${doc/DOC/\"a\\\\033[2Jb\"}" 'without control characters'
refused long_doc "s/^const cnn_impl \\*cnn_plugin\\(void\\) \\{/static char doc[1 << 16]; static cnn_impl other;\\n& for (size_t i = 0; i + 1 < sizeof doc; i++) doc[i] = 'd'; other = impl; other.doc = doc; return \&other;/" 'of less than 1024 bytes'
refused null_doc_of_algorithm 's/\.doc = "one output element after the other"/.doc = NULL/' 'doc of algorithm loops is NULL'
refused star "${name/NAME/\"*,loops:\"}" "algorithm's name is '\\*,loops:'"
refused quote "${name/NAME/\"lo\\\\\"ops\"}" 'must be of letters'
refused empty "${name/NAME/\"\"}" "name is ''"
refused escape "${name/NAME/\"loops\\\\033[1A\"}" 'loops\\x1b\[1A'
refused line "${name/NAME/\"loops\\\\nPASSED\"}" 'loops\\x0aPASSED'
refused endless_name 's/static const cnn_algorithm algorithms/static cnn_algorithm algorithms/; s/^const cnn_impl \*cnn_plugin\(void\) \{/& for (size_t i = 0; i < sizeof algorithms[0].name; i++) algorithms[0].name[i] = 67;/' "name is 'CCCC"
refused null_algorithms 's/\.algorithms = algorithms/.algorithms = NULL/' 'n_algorithms is 1, but its table is NULL'
refused negative 's/\.n_algorithms = .*/.n_algorithms = -1,/' 'n_algorithms is -1, but must be from 0'
refused many 's/\.n_algorithms = .*/& .n_knobs = 1000000, .knobs = (const cnn_knob *)algorithms,/' 'n_knobs is 1000000, but must be'
refused null_knobs 's/\.n_algorithms = .*/& .n_knobs = 2,/' 'n_knobs is 2, but its table is NULL'
refused no_operations 's/\.ops = &ops,//' 'no table ops'
table='s/^static const cnn_impl impl = /static void drop(cnn_context *c, void *p) { (void)c, (void)p; }\nstatic const cnn_memory memory[] = {{.free = drop}};\nstatic const cnn_peaks peaks[] = {{.count = 3}};\n&/; s/\.ops = &ops,/& TABLE/'
refused half_a_table "${table/TABLE/.memory = memory,}" 'memory has no alloc'
refused no_ceilings "${table/TABLE/.peaks = peaks,}" 'peaks has no open'
knob='s/^static const cnn_impl impl = /static const cnn_knob knobs[] = {{KNOB}};\n&/; s/\.n_algorithms = .*/& .knobs = knobs, .n_knobs = 1,/'
refused null_knob "${knob/KNOB/.name = NULL, .doc = \"a knob\"}" "name of knob 0 is ''"
refused equal_knob "${knob/KNOB/.name = \"a=b\", .doc = \"a knob\"}" "name of knob 0 is 'a=b'"
refused null_doc_of_knob "${knob/KNOB/.name = \"k\", .doc = NULL}" 'doc of knob k is NULL'
refused null_values "${knob/KNOB/.name = \"k\", .doc = \"a knob\", .n_values = 3}" 'knob k has 3 values in a table that is NULL'
refused default "${knob/KNOB/.name = \"k\", .doc = \"a knob\", .def = 5, .max = 1}" 'default 5, which is none of its values'
refused twice 's/^(\s*)\.amplification = 1\},.*/&\n {.name = "loops", .doc = "again", .ops = 1u << CNN_OP_CONV, .amplification = 1},/' "two algorithms named 'loops'"

# ---- An algorithm that prepare chooses anew, and whose promise is sometimes narrower than at other times, is no wrong one.
from narrows 's/CNN_ALGO_DETERMINISTIC,/CNN_ALGO_DETERMINISTIC | CNN_ALGO_TRANSFORMS,/; s/\.amplification = 1\}/.amplification = 100}/; s/^static cnn_status mine_supports/static cnn_status narrow(cnn_context *c, cnn_plan *plan, cnn_error *err)\n{\n    static int count;\n    (void)c, (void)err;\n    plan->algorithm.amplification = count++ % 2 == 0 ? 2 : 100;\n    return CNN_OK;\n}\n&/; s/^( *)\.supports = mine_supports,/&\n\1.prepare = narrow,/'
expect 0 '1 cases: 0 FAILED 1 PASSED' "a promise that narrows now and then" "$benchcnn" verify --plugin "$work/narrows.so" --impl mine "${problem[@]}" --dir FWD

# ---- What it says when it is asked.
supports='/^static cnn_status mine_supports/,/\{/ s/\{/{ ACT/'
wrong no_end "${supports/ACT/if (request) { for (size_t i = 0; i < sizeof err->message; i++) err->message[i] = 65; return CNN_UNSUPPORTED; \}}" 'message that has no end'
wrong no_status "${supports/ACT/if (request) return (cnn_status)-1;}" 'supports returned the status -1, but a cnn_status is a number from 0'
from escapes "${supports/ACT/if (request) return CNN_FAIL(err, CNN_UNSUPPORTED, \"no\\\\033[2J\\\\n69 cases: 0 FAILED\\\\x9b\");}"
expect 3 'no\\x1b\[2J\\x0a69 cases: 0 FAILED\\x9b' "a reason with escapes" "$benchcnn" verify --plugin "$work/escapes.so" --impl mine "${problem[@]}"
grep -q '^69 cases' "$work/out" && fail "a reason makes a line of its own"
more='s/^static const cnn_impl impl = /static cnn_status more(cnn_context *c, const cnn_request *r, cnn_algorithm *l, int n, int *count, cnn_error *e)\n{ (void)c, (void)r, (void)l, (void)n, (void)e; ACT return CNN_OK; }\n&/; s/\.ops = &ops,/& .enumerate = more,/'
wrong above "${more/ACT/*count = 1000000;}" 'gave 1000000 algorithms, where there was room for'
wrong below "${more/ACT/*count = -5;}" 'gave -5 algorithms'
wrong doubles "${more/ACT/*count = 1; l[0] = algorithms[0];}" "gave an algorithm 'loops', which there is already"
wrong unnamed "${more/ACT/*count = 1; l[0] = algorithms[0]; l[0].name[0] = 27;}" "name is '.x1boops'"
space='s/^static const cnn_impl impl = /static cnn_status space(cnn_context *c, cnn_plan *p, cnn_error *e)\n{ (void)c, (void)e; p->workspace_bytes = (size_t)1 << 50; return CNN_OK; }\n&/; s/\.ops = &ops,/& .prepare = space,/'
wrong endless_workspace "$space" 'asks for 1125899906842624 bytes of workspace'
expect 1 '[1-9][0-9]* FAILED' "fuzz endless_workspace" "$benchcnn" verify --plugin "$work/endless_workspace.so" --impl mine --op conv --dir FWD --dtype f32 --layout nchw --fuzz 10
tell='s/^static const cnn_impl impl = /static void tell(cnn_context *c, cnn_put_fn *put, void *user) { (void)c; ACT }\n&/; s/\.ops = &ops,/& .describe = tell,/'
from facts "${tell/ACT/put(user, \"none\", NULL); put(user, NULL, \"none\"); put(user, CNN_WARNING \"x\", \"wipe\\\\033[2J\");}"
expect 0 'warning: wipe\\x1b\[2J' "facts that are NULL" "$benchcnn" bench --plugin "$work/facts.so" --impl mine "${problem[@]}" --max-time 0.01 --peaks none --out "$work/facts.jsonl"
grep -q '"x":"wipe\\\\x1b' "$work/facts.jsonl" || fail "the warning is in no record"

# ---- What it prints is no record: of --json its prints go to standard error.
body='s/const float \*b = args->b;.*/const float *b = args->b; ACT/'
from talks "s/#include <stdlib.h>/&\n#include <stdio.h>/; ${body/ACT/puts(\"forged\"); fflush(stdout);}"
for command in verify "verify --isolate" "bench --max-time 0.01 --peaks none" "list"; do
    given=("${problem[@]}")
    [ "$command" = list ] && given=()
    # shellcheck disable=SC2086  # several words on purpose
    "$benchcnn" $command --plugin "$work/talks.so" --impl mine "${given[@]}" --json >"$work/json" 2>"$work/out" </dev/null
    grep -q forged "$work/json" && fail "$command: a plug-in prints a record"
    grep -q '"kind"' "$work/json" || fail "$command: there are no records"
    [ "$command" = list ] || grep -q forged "$work/out" || fail "$command: what it prints is lost"
done

# ---- How it ends: its name is told, without --isolate too.
from aborts "s/#include <stdlib.h>/&\\n/; ${body/ACT/abort();}"
expect 1 'a crash, with plug-ins loaded .*aborts.so' "abort" "$benchcnn" bench --plugin "$work/aborts.so" --impl mine "${problem[@]}" --max-time 0.2 --peaks none
from deep "s/^static cnn_status mine_conv_fwd/static int deeper(volatile char *up) { volatile char here[4096]; here[0] = up[0]; return deeper(here) + here[0]; }\\n&/; ${body/ACT/volatile char top[1] = {0\}; if (deeper(top)) return CNN_DEVICE;}"
if [ -z "${4:-}" ]; then # a sanitizer takes the stack for itself
    expect 1 'a crash, with plug-ins loaded .*deep.so' "stack overflow" "$benchcnn" bench --plugin "$work/deep.so" --impl mine "${problem[@]}" --max-time 0.2 --peaks none
fi
expect 1 'survival FAILED: .*signal' "stack overflow, isolated" "$benchcnn" verify --plugin "$work/deep.so" --impl mine "${problem[@]}" --isolate
mkfifo "$work/fifo.so"
expect 2 'fifo.so: it is no file' "a FIFO as a plug-in" "$benchcnn" list --plugin "$work/fifo.so"
exit $failed
