#!/usr/bin/env bash
# test_last_word.sh BENCHCNN CC [SANITIZERS]: exit status 0 means that the command ran to its end and that all held, whatever a
# plug-in does to the process; signals, stops and records are as they are without one.
set -u
benchcnn=$1 cc=$2
flags=(-O1 -fPIC -shared -Iharness)
[ -z "${3:-}" ] || flags+=("-fsanitize=$3" -fno-omit-frame-pointer -fno-sanitize-recover=all)
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_abort=0
ulimit -c 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
problem=mb2ic3ih5oc4oh5kh3ph1

fail() {
    echo "FAILED: $1"
    sed 's/^/    /' "$work/out"
    failed=1
}
from() { # NAME SED-SCRIPT [ACT [TOP]]: a plug-in from a few changed lines of the template; C for @ACT@, and before all
    local text
    text=$(sed -E "s/^struct cnn_context/@TOP@\\n&/; $2" impl_template/mine.c)
    text=${text/@TOP@/"${4:-}"}
    {
        printf '#define _GNU_SOURCE\n'
        printf '#include <%s.h>\n' pthread signal stdio string unistd
        printf '%s\n' "${text/@ACT@/"${3:-}"}"
    } >"$work/$1.c"
    "$cc" "${flags[@]}" "$work/$1.c" -o "$work/$1.so" -pthread >"$work/out" 2>&1 || fail "compile $1"
}
expect() { # STATUS PATTERN WHAT COMMAND...
    local status=$1 pattern=$2 what=$3
    shift 3
    timeout -k 5 120 "$@" >"$work/out" 2>&1 </dev/null
    local got=$?
    [ $got = "$status" ] || fail "$what: status $got instead of $status"
    grep -q -E -- "$pattern" "$work/out" || fail "$what: no line like '$pattern'"
}
fast=(--min-time 0.001 --max-time 0.01 --peaks none)
wrong='s/y\[i\] = args->beta.*/y[i] = 0;/'
call='s/const float \*b = args->b;.*/const float *b = args->b; @ACT@/'
gate='/^static cnn_status mine_supports/,/\{/ s/\{/{ @ACT@/'
early='s/^const cnn_impl \*cnn_plugin/__attribute__((constructor)) static void early(int argc, char **argv) { (void)argc, (void)argv; @ACT@ }\n&/'
leave='static void leave(int s) { (void)s; _exit(0); }'
ended='mine, .*\) ended the process, in the middle of the command'

# ---- In a call: whatever ends the process, without --isolate the run has failed, with it, and in verify, so has each case.
in_call() { # NAME [PATTERN without --isolate]
    local one=(--plugin "$work/$1.so" --impl mine --dir FWD --problem $problem --quiet)
    expect 1 "${2:-$ended}" "bench $1" "$benchcnn" bench "${one[@]}" "${fast[@]}"
    expect 1 'cases: 1 FAILED 0 PASSED' "verify $1" "$benchcnn" verify "${one[@]}"
    expect 1 '0 timed and verified, 0 wrong, 1 failed' "bench $1, isolated" "$benchcnn" bench "${one[@]}" "${fast[@]}" --isolate
}
from leaves "$call" 'fflush(NULL); _exit(0);'
in_call leaves
from quickly "$call" 'quick_exit(0);'
in_call quickly
from other "$call" 'execl("/bin/true", "true", (char *)NULL);'
in_call other
from handles "$call" 'signal(SIGABRT, leave); abort();' "$leave"
in_call handles
from aborts "$call" 'abort();'
in_call aborts 'a crash, with plug-ins loaded \(mine, .*aborts.so\): .*signal 6'
from splits "$call; $wrong" 'static int split; if (!split && fork() != 0) _exit(0); split = 1; close(1); close(2); alarm(60);'
expect 1 'FAILED 0 PASSED' "verify splits" "$benchcnn" verify --plugin "$work/splits.so" --impl mine --dir FWD --problem $problem --quiet
from thread "$call" 'static pthread_t t; if (!t && pthread_create(&t, NULL, end, NULL) == 0) pause();' \
    'static void *end(void *p) { usleep(100000); _exit(0); return p; }'
in_call thread
expect 1 "$ended" "sweep leaves" "$benchcnn" sweep threads --peaks none --plugin "$work/leaves.so" --impl mine --dir FWD --problem $problem --quiet
fuzz=(--impl mine --op conv --dir FWD --dtype f32 --layout nchw --fuzz 40 --jobs 2 --quiet)
for name in leaves other handles thread; do
    expect 1 '^40 of 40 cases: [1-9][0-9]* FAILED 0 PASSED' "fuzz $name" "$benchcnn" verify --plugin "$work/$name.so" "${fuzz[@]}"
done
# a worker that ends between two cases, when the next is asked for
from between "$gate" 'if (++asked > 20) _exit(0);' 'static int asked;'
expect 1 'FAILED|goes between two cases' "fuzz between" "$benchcnn" verify --plugin "$work/between.so" "${fuzz[@]}"
# what is written to all that is open is no result
from talks "$call" 'for (int fd = 3; fd < 64; fd++) if (write(fd, "PASSED\n", 7) < 0) continue; _exit(0);'
in_call talks
expect 1 '^40 of 40 cases: [1-9][0-9]* FAILED 0 PASSED' "fuzz talks" "$benchcnn" verify --plugin "$work/talks.so" "${fuzz[@]}"

# ---- At the end: FAILED stays status 1, PASSED stays 0.
for way in destructor atexit; do
    for status in 0 7; do
        name=$([ $status = 0 ] && echo $way || echo right)
        gone="$([ $way = destructor ] && echo '__attribute__((destructor))') static void gone(void) { _exit($status); }"
        from $name "$call; $([ $status = 0 ] && echo "$wrong")" "$([ $way = atexit ] && echo 'static int n; if (!n++) atexit(gone);')" "$gone"
    done
    for isolate in "" --isolate; do
        for name in $way right; do
            status=$([ $name = right ] && echo 0 || echo 1)
            one=(--plugin "$work/$name.so" --impl mine --dir FWD --problem $problem --quiet $isolate)
            expect "$status" "1 cases: $status FAILED" "verify $name $way $isolate" "$benchcnn" verify "${one[@]}"
            expect "$status" "$((1 - status)) timed and verified, $status wrong" "bench $name $way $isolate" "$benchcnn" bench "${one[@]}" "${fast[@]}"
        done
    done
    expect 1 '^40 of 40 cases: [1-9][0-9]* FAILED' "fuzz $way" "$benchcnn" verify --plugin "$work/$way.so" "${fuzz[@]}"
done

# ---- While it is loaded, in every command that loads: by itself, in a copy that filters what is said, by a signal later.
every() { # NAME [OPTION]
    local so=(--plugin "$work/$1.so")
    unfinished "$1" list "${so[@]}"
    expect 1 "plug-in .*$1.so . loading it: |$1.so\) ended the process" "$1 verify" "$benchcnn" verify "${so[@]}" --impl mine --dir FWD --problem $problem
    unfinished "$1" verify "${so[@]}" "${fuzz[@]}"
    unfinished "$1" bench "${so[@]}" --impl mine --dir FWD --problem $problem "${fast[@]}"
    unfinished "$1" compute "${so[@]}" --impl mine --dir FWD --problem $problem --in x=x.npy --in w=w.npy --out "$work/y.npy"
    unfinished "$1" peaks "${so[@]}" --impl mine --threads 1 --min-time 0.0001
    unfinished "$1" sweep threads --peaks none "${so[@]}" --impl mine --dir FWD --problem $problem
    unfinished "$1" sweep batch "${so[@]}" --impl mine --net thesis --data synthetic
    unfinished "$1" train "${so[@]}" --impl mine --net thesis --data synthetic
}
unfinished() { expect 1 "$1.so\) ended the process, in the middle of the command" "$*" "$benchcnn" "${@:2}"; }
from loading "$early" '_exit(0);'
every loading
from filter "$early" 'if (fork() == 0) { if (!freopen("/dev/null", "w", stdout)) _exit(1); return; }
    usleep(300000); if (write(1, "1 cases: 0 FAILED\n", 18) < 0) _exit(1); _exit(0);'
every filter
from alarm "$early" 'signal(SIGALRM, leave); alarm(1);' "$leave"
unfinished alarm verify --plugin "$work/alarm.so" --impl mine --dir FWD --fuzz 100000 --quiet
printf 'list --plugin %s\n' "$work/loading.so" >"$work/recipe"
expect 1 'loading its plug-ins failed' "a recipe" "$benchcnn" run "$work/recipe" --out "$work/recipe.jsonl"
from good 's/sure/sure/'
printf 'list --plugin %s\n' "$work/good.so" >"$work/recipe"
expect 0 'mine:loops' "a recipe with a sound plug-in" "$benchcnn" run "$work/recipe" --out "$work/recipe.jsonl"

# ---- Another's words and figures are not had by writing over the command line; nor does it tell which command it is.
from edits "$early; $wrong" 'for (int i = 1; i < argc; i++) if (strcmp(argv[i], "mine") == 0) strcpy(argv[i], "cpu");'
expect 1 '1 cases: 1 FAILED 0 PASSED' "edits the command line" "$benchcnn" verify --plugin "$work/edits.so" --impl mine --dir FWD --problem $problem --quiet
from reads "$early" 'char t[4096] = ""; FILE *f = fopen("/proc/self/cmdline", "r"); size_t n = f ? fread(t, 1, 4095, f) : 0;
    for (size_t i = 0; i < n; i++) if (strcmp(t + i, "verify") == 0) abort();'
expect 0 '1 cases: 0 FAILED 1 PASSED' "reads the command line" "$benchcnn" verify --plugin "$work/reads.so" --impl mine --dir FWD --problem $problem --quiet

# ---- `supports` is the only gate; nobody but the user interrupts.
answers() { # STATUS, from a call
    from "$1" "$call" "return CNN_FAIL(err, $1, \"so it says\");"
    local one=(--plugin "$work/$1.so" --impl mine --dir FWD --problem $problem --quiet)
    expect 1 '(answered|returned the status) .*so it says' "verify $1" "$benchcnn" verify "${one[@]}"
    expect 1 'FAILED: .*so it says' "bench $1" "$benchcnn" bench "${one[@]}" "${fast[@]}"
    expect 1 '^40 of 40 cases: [1-9][0-9]* FAILED' "fuzz $1" "$benchcnn" verify --plugin "$work/$1.so" "${fuzz[@]}"
}
for status in CNN_UNSUPPORTED CNN_OUT_OF_MEMORY CNN_INTERRUPTED; do answers $status; done
from presses "$call; $wrong" 'raise(SIGINT);'
in_presses=(--plugin "$work/presses.so" --impl mine --dir FWD --problem $problem --quiet)
expect 1 '1 cases: 1 FAILED' "raises SIGINT" "$benchcnn" verify "${in_presses[@]}"
from wavers "$gate" 'if (++asked % 2) return CNN_FAIL(err, CNN_UNSUPPORTED, "not this time");' 'static int asked;'
expect 1 'FAILED: .*no and then yes' "bench wavers" "$benchcnn" bench --plugin "$work/wavers.so" --impl mine --dir FWD --problem $problem --quiet "${fast[@]}"
expect 1 '1 cases: 1 FAILED' "verify wavers" "$benchcnn" verify --plugin "$work/wavers.so" --impl mine --dir FWD --problem $problem --quiet
# most of what it let through was left out: that is told, and no success
few='of 26 cases that `supports` let through only 2 were verified'
slots='s/^static const cnn_impl impl = /@ACT@\n&/; s/\.ops = &ops,/& SLOTS/'
prepare='static cnn_status prepare(cnn_context *c, cnn_plan *p, cnn_error *e)
{
    const cnn_conv_desc *d = &p->problem.u.conv;
    return (void)c, d->kh * d->kw > 1 ? CNN_FAIL(e, CNN_UNSUPPORTED, "after all") : CNN_OK;
}'
room='static cnn_status room(cnn_context *c, cnn_plan *p, cnn_error *e)
{
    (void)c, (void)e;
    p->workspace_bytes = p->problem.u.conv.kh * p->problem.u.conv.kw > 1 ? (size_t)1 << 60 : 0;
    return CNN_OK;
}'
from planned "${slots/SLOTS/.prepare = prepare,}; s/CNN_ALGO_DETERMINISTIC/& | CNN_ALGO_MAY_REFUSE/" "$prepare"
from endless "${slots/SLOTS/.prepare = room,}" "$room"
for isolate in "" --isolate; do
    expect 1 "$few" "planned $isolate" "$benchcnn" verify --plugin "$work/planned.so" --impl mine --op conv --dir FWD --quiet $isolate
    expect 1 'bytes of workspace, where this problem can need' "endless $isolate" "$benchcnn" verify --plugin "$work/endless.so" --impl mine --op conv --dir FWD --quiet $isolate
done
expect 1 'let through only [0-9]+ were verified' "fuzz planned" "$benchcnn" verify --plugin "$work/planned.so" "${fuzz[@]}" --seed 1
expect 1 '[1-9][0-9]* FAILED' "fuzz endless" "$benchcnn" verify --plugin "$work/endless.so" "${fuzz[@]}" --seed 1
# memory that it says it has not, and gives all the same, is there: what needs it is checked
memory='static cnn_status take(cnn_context *c, size_t n, void **p, cnn_error *e) { (void)c, (void)e; *p = aligned_alloc(CNN_ALIGN, (n / CNN_ALIGN + 1) * CNN_ALIGN); return CNN_OK; }
static void drop(cnn_context *c, void *p) { (void)c, free(p); }
static cnn_status up(cnn_context *c, void *to, const void *from, size_t n, cnn_error *e) { (void)c, (void)e, memcpy(to, from, n); return CNN_OK; }
static cnn_status set(cnn_context *c, void *to, int byte, size_t n, cnn_error *e) { (void)c, (void)e, memset(to, byte, n); return CNN_OK; }
static cnn_status left(cnn_context *c, size_t *n, cnn_error *e) { (void)c, (void)e; *n = 64; return CNN_OK; }
static const cnn_memory memory[] = {{take, drop, up, up, up, set, left}};'
from full "${slots/SLOTS/.memory = memory,}; $wrong" "$memory"
expect 1 '1 cases: 1 FAILED' "memory is full" "$benchcnn" verify --plugin "$work/full.so" --impl mine --dir FWD --problem $problem --quiet
expect 3 '1 cases: 0 FAILED 0 PASSED' "one late refusal" "$benchcnn" verify --plugin "$work/planned.so" --impl mine --dir FWD --problem $problem --quiet

# ---- Statuses pass through.
expect 2 'unknown option' "usage" "$benchcnn" list --plugin "$work/good.so" --nonsense
expect 2 'did you mean' "a knob of nobody" "$benchcnn" bench --plugin "$work/good.so" --set mime.x=1
[ ! -e /dev/full ] || { "$benchcnn" list --plugin "$work/good.so" >/dev/full 2>"$work/out"; [ $? = 2 ] || fail "a full disk"; }

# ---- Signals to the one that watches reach the run; none outlives the other.
from slow "$call" 'usleep(60000);'
children() { cat /proc/"$1"/task/*/children 2>/dev/null; }
state() { sed 's/.*) //; s/ .*//' /proc/"$1"/stat 2>/dev/null; }
until_true() { for _ in $(seq 600); do eval "$1" && return 0; sleep 0.05; done; return 1; }
begin() { # in the background, in a process group of its own, as a shell gives a job, until it records; $pid watches $run
    rm -f "$work/slow.jsonl"
    set -m
    "$benchcnn" verify --plugin "$work/slow.so" --impl mine --op conv --dir FWD --problem $problem --problem ic3ih6oc4kh3 --quiet --out "$work/slow.jsonl" >"$work/out" 2>&1 </dev/null &
    pid=$!
    set +m
    until_true "grep -qs '\"kind\":\"verify\"' '$work/slow.jsonl'" || fail "it does not begin"
    run=$(children $pid)
}
if [ -e /proc/self/task/$$/children ]; then
    for signal in INT TERM; do
        begin
        kill -s $signal $pid
        wait $pid
        status=$?
        [ $status = 130 ] || fail "SIG$signal: status $status"
        [ "$(grep -c 'stopping after the current step' "$work/out")" = 1 ] || fail "SIG$signal: not said once"
        grep -qv '^{.*}$' "$work/slow.jsonl" && fail "SIG$signal: a broken record"
        [ -z "$(state $run)" ] || fail "SIG$signal: the run goes on"
    done
    begin
    kill -s INT -- -$pid
    wait $pid
    status=$?
    [ $status = 130 ] || fail "Ctrl-C: status $status"
    [ "$(grep -c 'stopping after the current step' "$work/out")" = 1 ] || fail "Ctrl-C: not said once"
    for to in PID "-- -PID"; do
        begin
        kill -s TSTP ${to/PID/$pid}
        until_true '[ "$(state $pid)$(state $run)" = TT ]' || fail "SIGTSTP $to: $(state $pid)$(state $run)"
        kill -s CONT $pid
        until_true '[[ "$(state $pid)$(state $run)" =~ ^[SRD]+$ ]]' || fail "SIGCONT: $(state $pid)$(state $run)"
        sleep 0.3
        [ "$(state $pid)" != T ] || fail "SIGCONT: it stops again"
        kill -s KILL $pid
        wait $pid 2>/dev/null
        until_true '[[ "$(state $run)" =~ ^Z?$ ]]' || fail "SIGKILL: the run outlives it"
    done
    begin
    kill -s KILL $run
    wait $pid
    status=$?
    [ $status = 1 ] || fail "the run was killed: status $status"
    grep -q 'ended by signal 9' "$work/out" || fail "the run was killed: not said"
    # nothing of this without a plug-in
    "$benchcnn" bench --impl cpu:direct --problem ic3ih8oc4kh3 --dir FWD --min-time 60 --max-time 60 --quiet --peaks none >"$work/out" 2>&1 </dev/null &
    pid=$!
    sleep 0.5
    [ -z "$(children $pid)" ] || fail "a child process without a plug-in"
    kill -s KILL $pid
    wait $pid 2>/dev/null
fi
# a reader that has read enough is nobody's crash
"$benchcnn" verify --plugin "$work/slow.so" --impl mine --op conv --dir FWD 2>"$work/out" </dev/null | head -1 >/dev/null
[ "${PIPESTATUS[0]}" = 141 ] || fail "SIGPIPE: status ${PIPESTATUS[0]}"
grep -q 'crash' "$work/out" && fail "SIGPIPE: a crash is told"
[ $failed = 0 ] && echo "the last word: all held"
exit $failed
