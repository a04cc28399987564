#!/usr/bin/env bash
# test_kept_records.sh BENCHCNN CC [SANITIZERS]: the process that watches holds the records: a plug-in's process has no
# descriptor of them, and no command line tells what was asked. What reads records, and what crashes leave, is as ever.
set -u
benchcnn=$(realpath "$1") cc=$2
flags=(-O1 -fPIC -shared -Iharness)
[ -z "${3:-}" ] || flags+=("-fsanitize=$3" -fno-omit-frame-pointer -fno-sanitize-recover=all)
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_abort=0:disable_coredump=0
ulimit -S -c 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_DATA_HOME=$work
failed=0
fail() {
    echo "FAILED: $1"
    sed 's/^/    /' "$work/out"
    failed=1
}
plugin() { # NAME BODY-OF-A-CALL
    {
        printf '#define _GNU_SOURCE\n'
        printf '#include <%s.h>\n' dirent stdio stdlib string unistd
        sed -E 's/const float \*b = args->b;.*/const float *b = args->b; act();/; s/^struct cnn_context/static void act(void);\n&/' impl_template/mine.c
        printf 'static void act(void)\n{\n%s\n}\n' "$2"
    } >"$work/$1.c"
    "$cc" "${flags[@]}" "$work/$1.c" -o "$work/$1.so" -pthread >"$work/out" 2>&1 || fail "compile $1"
}
expect() { # STATUS WHAT COMMAND...
    local status=$1 what=$2
    shift 2
    timeout -k 5 120 "$@" >"$work/out" 2>"$work/errors" </dev/null
    local got=$?
    cat "$work/errors" >>"$work/out"
    [ $got = "$status" ] || fail "$what: status $got instead of $status"
}
whole() { # FILE RECORDS WHAT: it holds at least so many, all of them records
    [ "$(grep -c '^{"kind":".*}$' "$1")" -ge "$2" ] || fail "$3: fewer than $2 records in $1"
    ! grep -qv '^{"kind":".*}$' "$1" || fail "$3: $1 holds other lines than records"
    timeout 60 "$benchcnn" check "$1" >"$work/out" 2>&1 || fail "$3: $1 is no file of records"
}
one=(--impl mine --dir FWD --problem mb2ic3ih5oc4oh5kh3ph1 --quiet)
fast=(--min-time 0.001 --max-time 0.01 --peaks none)

# ---- No descriptor of its process leads to a file of records; it prints all the same.
plugin looks '    DIR *files = opendir("/proc/self/fd");
    for (struct dirent *e; files && (e = readdir(files));) {
        char path[300], to[4096] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", e->d_name);
        if (readlink(path, to, sizeof to - 1) > 0 && strstr(to, ".jsonl")) abort();
    }
    if (files) closedir(files);
    puts("{\"kind\":\"conv\"}");'
so=(--plugin "$work/looks.so" "${one[@]}")
for isolate in "" --isolate; do
    rm -f "$work"/*.jsonl
    expect 0 "verify $isolate" "$benchcnn" verify "${so[@]}" $isolate --out "$work/a.jsonl"
    whole "$work/a.jsonl" 4 "verify $isolate"
    expect 0 "bench $isolate" "$benchcnn" bench "${so[@]}" "${fast[@]}" $isolate --out "$work/b.jsonl"
    whole "$work/b.jsonl" 4 "bench $isolate"
    timeout 60 "$benchcnn" bench "${so[@]}" "${fast[@]}" $isolate --json >"$work/c.jsonl" 2>"$work/errors" </dev/null || fail "bench --json $isolate"
    whole "$work/c.jsonl" 2 "bench --json $isolate"
    grep -q '^{"kind":"conv"}$' "$work/errors" || fail "bench --json $isolate: what it prints is gone"
    expect 0 "sweep $isolate" "$benchcnn" sweep threads "${so[@]}" "${fast[@]}" $isolate --threads 1 --out "$work/d.jsonl"
    whole "$work/d.jsonl" 2 "sweep $isolate"
    exec 9>>"$work/e.jsonl" # one that it inherits, too
    expect 0 "inherited $isolate" "$benchcnn" verify "${so[@]}" $isolate --out "$work/e.jsonl"
    exec 9>&-
    whole "$work/e.jsonl" 4 "inherited $isolate"
done
printf 'verify --plugin %s --impl mine --dir FWD --problem mb2ic3ih5oc4oh5kh3ph1 --quiet --out %s\n' "$work/looks.so" "\$OUT" >"$work/recipe"
expect 0 "a recipe" "$benchcnn" run "$work/recipe" --out "$work/f.jsonl"
whole "$work/f.jsonl" 6 "a recipe"
printf 'verify --plugin %s --impl mine --dir FWD --problem mb2ic3ih5oc4oh5kh3ph1 --quiet\n' "$work/looks.so" >"$work/recipe"
expect 0 "a recipe whose line writes no records" "$benchcnn" run "$work/recipe" --out "$work/g.jsonl"
expect 0 "processes" "$benchcnn" bench "${so[@]}" "${fast[@]}" --processes 2 --out "$work/h.jsonl"
whole "$work/h.jsonl" 5 "processes"

# ---- A file of the command's own, which it renames in the end, is one that it may rename.
expect 0 "--save" "$benchcnn" bench "${so[@]}" "${fast[@]}" --save kept
expect 0 "--save, once more, isolated" "$benchcnn" bench "${so[@]}" "${fast[@]}" --save kept --isolate
[ -n "$(find "$work" -name '*kept*.jsonl')" ] || fail "no baseline was kept"

# ---- No command line tells.
plugin reads '    char path[64], line[4096] = "";
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/proc/%d/cmdline", (int)(i ? getppid() : getpid()));
        FILE *file = fopen(path, "r");
        const size_t length = file ? fread(line, 1, sizeof line, file) : 0;
        if (file) fclose(file);
        if (length == 0 || memmem(line, length, "verify", 6) || memmem(line, length, "--seed", 6) || memmem(line, length, ".so", 3)) abort();
    }'
expect 0 "command lines" "$benchcnn" verify --plugin "$work/reads.so" "${one[@]}" --seed 5

# ---- A crash of the run leaves its core, where crashes do.
plugin crashes '    abort();'
if [ "$(cat /proc/sys/kernel/core_pattern 2>/dev/null)" = core ] && [ -z "${3:-}" ]; then
    mkdir "$work/cores"
    (cd "$work/cores" && ulimit -c unlimited && timeout 60 "$benchcnn" bench --plugin ../crashes.so "${one[@]}" "${fast[@]}") >"$work/out" 2>&1 </dev/null
    [ $? = 1 ] || fail "a crash is not FAILED"
    ls "$work"/cores/core* >/dev/null 2>&1 || fail "a crash of the run leaves no core"
fi

[ $failed = 0 ] && echo "the process that watches keeps the records"
exit $failed
