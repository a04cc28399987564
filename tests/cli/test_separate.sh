#!/usr/bin/env bash
# test_separate.sh BENCHCNN CC CHEATS [SANITIZERS]: verify --separate: a plug-in in a process of its own is held to the same, with the
# same words, as one in the process that judges it, and reaches nothing of that.
set -u
benchcnn=$(realpath "$1") cc=$2 cheats=$3
flags=(-O1 -fPIC -shared -Iharness)
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_abort=0:detect_leaks=0:allow_user_poisoning=0
ulimit -c 0
work=$(mktemp -d)
export BENCHCNN_SEPARATE_TEST=$$.$RANDOM # in the environment of what the commands start
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
        printf '#include <%s.h>\n' fenv pthread signal stdio stdlib string unistd sys/socket
        printf '%s\n' "${text/@ACT@/"${3:-}"}"
    } >"$work/$1.c"
    "$cc" "${flags[@]}" "$work/$1.c" -o "$work/$1.so" -pthread -lm >"$work/out" 2>&1 || fail "compile $1"
}
run() { # STATUS PATTERN WHAT ARGUMENTS...: of verify
    local status=$1 pattern=$2 what=$3
    shift 3
    timeout -k 5 120 "$benchcnn" verify --quiet "$@" >"$work/out" 2>&1 </dev/null
    local got=$?
    [ $got = "$status" ] || fail "$what: status $got instead of $status"
    grep -q -E -- "$pattern" "$work/out" || fail "$what: no line like '$pattern'"
}
one=(--impl mine --dir FWD --problem $problem)
both() { # NAME STATUS PATTERN [ARGUMENTS...]: in one process and in two
    local name=$1 status=$2 pattern=$3
    shift 3
    run "$status" "$pattern" "$name" --plugin "$work/$name.so" "${one[@]}" "$@"
    run "$status" "$pattern" "$name, separate" --plugin "$work/$name.so" "${one[@]}" --separate "$@"
}
call='s/const float \*b = args->b;.*/const float *b = args->b; @ACT@/'
early='s/^const cnn_impl \*cnn_plugin/__attribute__((constructor)) static void early(void) { @ACT@ }\n&/'

# ---- An honest one: the same verdicts, seeds and words.
from mine ''
all=(--plugin "$work/mine.so" --op conv,fc --seed 7)
[ -z "${TEST_SANITIZED:-}" ] || all=(--plugin "$work/mine.so" --problem 'mb{1,2}ic{3,8}ih7oc4kh3ph1' --seed 7)
run 0 ' 0 FAILED [1-9][0-9]* PASSED' honest "${all[@]}" --out "$work/one.jsonl"
mv "$work/out" "$work/one"
run 0 ' 0 FAILED [1-9][0-9]* PASSED' 'honest, separate' "${all[@]}" --separate --out "$work/two.jsonl"
diff "$work/one" "$work/out" >"$work/differs" || { mv "$work/differs" "$work/out" && fail 'an honest one has other lines'; }
told() { sed -E 's/"(time|repro|started|command|pid|hostname|seconds|[a-z_]*_s)":("[^"]*"|[0-9.e+-]+),?//g; s/ --separate//g' "$1" | grep -vE '"kind":"(begin|end|env)"'; }
diff <(told "$work/one.jsonl") <(told "$work/two.jsonl") >"$work/out" || fail 'an honest one has other records'
grep -q '"plugin":"[0-9a-f]*"' "$work/two.jsonl" || fail 'which build it is stands in no record'
run 0 ' 0 FAILED [1-9][0-9]* PASSED' 'two contexts at a time' --plugin "$work/mine.so" "${one[@]}" --separate --check determinism
run 0 ' 0 FAILED [1-9][0-9]* PASSED' sums --plugin "$work/mine.so" "${one[@]}" --separate --sums
run 0 ' 0 FAILED [1-9][0-9]* PASSED' kernel --separate --kernel impl_template/kernels/conv.c:conv \
    --args x,w,b,y,mb,ic,ih,iw,oc,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw --problem $problem

# ---- Who writes over what is expected is believed in one process, and not in two; who goes for the process itself is not either.
if [ -d "$cheats" ]; then # not where a sanitized program emulates CUDA
    cheat=(--dir FWD --problem mb2ic4ih6oc4kh3ph1)
    run 0 ' 0 FAILED 1 PASSED' 'turns_the_reference' --plugin "$cheats/turns_the_reference.so" "${cheat[@]}"
    run 1 'exact FAILED: y is not equal' 'turns_the_reference, separate' --plugin "$cheats/turns_the_reference.so" "${cheat[@]}" --separate
    run 1 'exact FAILED: y is not equal' 'writes_to_the_watcher, separate' --plugin "$cheats/writes_to_the_watcher.so" "${cheat[@]}" --separate
    run 2 'plug-in .*: it has memory of its own' 'memory of its own' --plugin "$cheats/memory_is_full.so" --separate
fi
from looks "$call" 'if (sees_the_judge()) _exit(9);' 'static int sees_the_judge(void)
{
    char path[64];
    const char *const files[] = {"mem", "fd/1", "fd/3", "fd/4"}; /* root may see more of what is no content */
    int seen = 0;
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "/proc/%d/%s", (int)getppid(), files[i]);
        FILE *file = fopen(path, "r");
        seen += file != NULL;
        if (file != NULL) fclose(file);
    }
    return seen;
}'
run 0 ' 0 FAILED 1 PASSED' 'nothing of the judge is seen' --plugin "$work/looks.so" "${one[@]}" --separate
from files "$call" 'for (int fd = 7; fd < 1024; fd++) { int kind; socklen_t n = sizeof kind; if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &n) == 0 || lseek(fd, 0, SEEK_CUR) >= 0) _exit(9); }'
run 0 ' 0 FAILED 1 PASSED' 'no file of the judge is open' --plugin "$work/files.so" "${one[@]}" --separate --out "$work/files.jsonl" 8</dev/null
from words "$early" 'char line[4096] = ""; FILE *f = fopen("/proc/self/cmdline", "r"); const size_t n = fread(line, 1, 4096, f); fclose(f); if (memmem(line, n, "seed", 4) || memmem(line, n, "77", 2)) _exit(9);'
run 0 ' 0 FAILED 1 PASSED' 'the seed is on no command line' --plugin "$work/words.so" "${one[@]}" --separate --seed 770077

# ---- How it ends is told as ever, and the run goes on behind it.
survives() { # NAME PATTERN [ARGUMENTS]
    both "$1" 1 "survival FAILED: .*$2" --problem mb1ic2ih4oc2kh3ph1 "${@:3}"
    grep -q '^2 cases: 2 FAILED' "$work/out" || fail "$1: the run does not go on"
}
from crashes "$call" '*(volatile int *)0 = 1;'
survives crashes 'ended by signal 11 .*: it wrote to address 0x0, which is NULL; in .*crashes.so'
from exits "$call" '_exit(0);'
survives exits 'it ended its process itself, with status 0'
from aborts "$call" 'abort();'
survives aborts 'ended by signal 6'
from hangs "$call" 'for (;;) pause();'
survives hangs 'did not finish in 1 s' --isolate-limit 1
from leaves_a_copy "$call" 'if (fork() != 0) _exit(0);'
survives leaves_a_copy 'it ended its process itself, with status 0'
from closes "$call" 'for (int fd = 3; fd < 64; fd++) close(fd);'
run 1 'survival FAILED: (it ended its process itself|its process no longer answered)' closes --plugin "$work/closes.so" "${one[@]}" --separate
from lies "$call" 'for (int fd = 3; fd < 5; fd++) if (write(fd, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12) < 0) _exit(1);'
run 1 'survival FAILED: its process no longer answered' 'an answer that is none' --plugin "$work/lies.so" "${one[@]}" --separate
from early "$early" '_exit(0);'
run 1 'FAILED +plug-in .*early.so \| loading it: it ended its process itself, with status 0' 'exits when it is loaded' \
    --plugin "$work/early.so" "${one[@]}" --separate

# ---- What is checked in this process is checked in that one.
from beyond "$call" 'volatile const float *p = (const float *)args->x + 2 * 3 * 5 * 5; (void)p[15]; (void)p[16];'
both beyond 1 'memory FAILED: read past x: at \+'
from before "$call" 'volatile const float *p = (const float *)args->w; (void)p[-1];'
both before 1 'memory FAILED: read before w: at -4 from its start'
from writes "$call" '((float *)args->y)[2 * 4 * 5 * 5] = 1;'
both writes 1 'memory FAILED: wrote past y: 4 bytes beyond its end are changed, at \+0 to \+3'
from changes "$call" '((float *)(size_t)args->x)[0] += 1;'
both changes 1 'changed its input x at byte'
from rounds "$call" 'fesetround(FE_UPWARD);'
both rounds 1 'conv_fwd left the rounding mode changed'
if [ -z "${4:-}" ]; then # a sanitizer's heap is another one: nobody counts it, and much of it can be written to
    from runs_on "$call" 'for (float *p = args->y; ; p++) *p = 1;'
    survives runs_on 'ended by signal 11 .*past the end of y'
    from keeps "$call" 'static void *volatile kept; kept = malloc(4096); memset(kept, 1, 4096);'
    both keeps 1 'memory FAILED: every call keeps memory'
fi

# ---- What it is not for.
run 2 'a pair runs in one process' 'a pair' --plugin "$work/mine.so" --impl mine+cpu --separate
run 2 'fuzz does not go with --separate' fuzz --plugin "$work/mine.so" --fuzz 3 --separate
run 2 'net does not go with --separate' net --plugin "$work/mine.so" --net thesis --separate
run 2 'separate goes with --plugin' 'no plug-in' --impl cpu --separate
run 2 'plug-in .*none.so: ' 'no such file' --plugin "$work/none.so" --separate
(exec -a benchcnn-runner "$benchcnn" 5) >"$work/out" 2>&1 </dev/null && fail 'a runner that nobody started'


# ---- Nothing is left behind.
left() { grep -lsz "^BENCHCNN_SEPARATE_TEST=$BENCHCNN_SEPARATE_TEST\$" /proc/[0-9]*/environ | cut -d/ -f3 | grep -vx "$$"; }
for _ in 1 2 3 4 5 6; do [ -z "$(for pid in $(left); do readlink "/proc/$pid/exe"; done | grep -F benchcnn)" ] || sleep 0.5; done
left >"$work/pids"
for pid in $(cat "$work/pids"); do readlink "/proc/$pid/exe"; done | grep -F benchcnn >"$work/out" && fail 'processes are left behind'
exit $failed
