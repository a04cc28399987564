#!/usr/bin/env bash
# run.sh FOLDER NAME: runs the mutant NAME of FOLDER as FOLDER/list says: it must be killed. run.sh FOLDER CONTROL OF VERIFY...:
# runs the unchanged program CONTROL so: it must hold. Ends with 0 if so, 1 if not, 77 if it cannot run here. The last line
# of the output is for matrix.sh: name, how it ended, checks that failed, checks that passed, separated by tabs.
# The first case that fails kills a mutant, if it holds in the unchanged program. With MUTANT_WHOLE=1 the mutant runs all cases,
# so that each check has its say; matrix.sh then runs the controls.
set -u
folder=$1 name=$2 limit=${MUTANT_SECONDS:-200}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if [ $# -gt 2 ]; then
    control=yes of=$3 ask=("${@:4}")
else
    control=''
    IFS=$'\t' read -r _ of words _ < <(grep "^$name"$'\t' "$folder/list")
    read -ra ask <<<"$words"
    [ -n "$of" ] || { echo "there is no mutant $name in $folder/list"; exit 1; }
fi
# A sanitizer that finds something ends the program like any other crash; leaks are no wrong results.
for tool in ASAN UBSAN TSAN; do declare -x "${tool}_OPTIONS=$(eval "echo \${${tool}_OPTIONS:+\$${tool}_OPTIONS:}")abort_on_error=1:detect_leaks=0"; done
export OMP_WAIT_POLICY=passive # OpenMP's idle threads would spin, on cores that other tests need
case "$of ${ask[*]}" in onednn*8:*) export ONEDNN_MAX_CPU_ISA=AVX2 ;; esac # oneDNN's kernels for integers: the same ones everywhere
case "${ask[*]}" in *cpu.vnni=1*) grep -qw avx512_vnni /proc/cpuinfo || { echo "cannot run here: no AVX512_VNNI"; exit 77; } ;; esac
# Of two emulated multiprocessors each would have half of its parameters' state: more than fits.
case "$of ${ask[*]}" in cuda_fused:v3*thesis*) export EMULATED_CUDA_FAULT=multiprocessors=16 ;; esac
[ -n "$control" ] || [ "${MUTANT_WHOLE:-0}" = 1 ] || ask+=(--fail-fast)
ulimit -c 0
timeout -s KILL "$limit" "$folder/$name" verify --impl "$of" "${ask[@]}" --threads 2 --seed 1 --json --quiet >"$tmp/out" 2>"$tmp/err"
status=$?

# The checks of the verify records in one of these states, each once.
checks() { grep '"kind":"verify"' "$tmp/out" | grep -E "\"state\":\"($1)\"" | sed -n 's/.*"check":"\([a-z]*\)".*/\1/p' | sort -u | paste -sd, -; }
failed=$(checks 'FAILED|MISTRUSTED') passed=$(checks PASSED)
message=$(grep -aE '^SUMMARY: |runtime error|^benchcnn: ' "$tmp/err" | tail -1)
if [ $status -eq 137 ]; then # a slow machine is no kill
    end=broken message="did not end within $limit s: what hangs is asked with --isolate-limit"
elif [ $status -gt 128 ]; then
    end=crash message="signal $((status - 128)) $message"
elif [ $status -eq 3 ]; then
    echo "cannot run here: $message"
    exit 77
elif [ $status -eq 0 ] && [ -z "$failed" ]; then
    end=held
elif [ "$failed" = survival ] && grep -q 'did not finish' "$tmp/out"; then # it was asked with --isolate, which ends it sooner
    end=hang failed='' message="did not finish a case"
elif [ $status -eq 1 ] && [ -n "$failed" ]; then
    end=caught message=$(grep -aE '"state":"(FAILED|MISTRUSTED)"' "$tmp/out" | head -1 | sed -n 's/.*"reason":"\([^"]*\).*/\1/p')
else
    end=broken message="ended with status $status: $message"
fi

# These take a problem that the unchanged program must refuse.
takes_more='matrix.padded_at_the_end'

# The case that convicts a mutant must hold in the unchanged program: it runs there by the command of its record, or, if the mutant
# ended without one, all that was asked does. Once for all mutants that fail in the same case, until the control is built anew.
unchanged_holds() {
    local program=$folder/control.${of%%:*} repro held words
    repro=$(grep -aE '"state":"(FAILED|MISTRUSTED)"' "$tmp/out" | head -1 |
        sed -n 's/.*"repro":"benchcnn \(\([^"\\]\|\\.\)*\)".*/\1/p' | sed 's/\\\(.\)/\1/g')
    [ -n "$repro" ] || printf -v repro '%q ' verify --impl "$of" "${ask[@]}" --threads 2 --seed 1
    held=$folder/held/$(cksum <<<"$of $repro" | tr ' ' -)
    [ "$held" -nt "$program" ] && return
    eval "words=($repro)" # its words are quoted for a shell
    echo "unchanged: $program $repro"
    timeout -s KILL "$limit" "$program" "${words[@]}" --quiet >"$tmp/unchanged" 2>&1 &&
        { mkdir -p "$folder/held" && touch "$held"; return; }
    [[ " $takes_more " == *" $name "* ]] && grep '^1 cases: 0 FAILED 0 PASSED 1 UNSUPPORTED' "$tmp/unchanged" && return
    tail -5 "$tmp/unchanged"
    return 1
}
case $end in
    caught | crash | hang)
        [ -n "$control" ] || [ "${MUTANT_WHOLE:-0}" = 1 ] || unchanged_holds ||
            end=broken message='the unchanged program does not hold in the same case'
        ;;
esac
echo "$folder/$name verify --impl $of ${ask[*]} --threads 2 --seed 1"
[ -z "$message" ] || echo "$message"
printf '%s\t%s\t%s\t%s\n' "$name" "$end" "$failed" "$passed"
case $control$end in yesheld | caught | crash | hang) exit 0 ;; *) exit 1 ;; esac
