# shellcheck shell=bash
# cli.sh, sourced by the tests of the command line, whose first argument is the program: a folder of their own, and what
# failed is counted.
set -u
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE OPENBLAS_BLOCK_FACTOR CUDA_LAUNCH_BLOCKING # each is warned of
# shellcheck disable=SC2034  # theirs
benchcnn=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tests=0 failures=0

# fail WHAT: counts it, and says so.
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
# holds WHAT FILE WORDS [GREP-OPTION]: the file holds each of WORDS, which '|' separates: as they are, or as patterns (-E).
holds() {
    local what=$1 file=$2 each w
    IFS='|' read -ra each <<<"$3"
    for w in "${each[@]}"; do
        grep -q "${4:--F}" -- "$w" "$file" || fail "$what does not say '$w': $(tail -c 600 "$file")"
    done
}
# refused WORDS ARGUMENTS...: the command ends with status 2 and one sentence that holds each of WORDS.
refused() {
    local words=$1 status
    shift
    tests=$((tests + 1))
    "$benchcnn" "$@" >"$tmp/out" 2>"$tmp/err"
    status=$?
    if [ $status -ne 2 ]; then
        fail "'benchcnn $*' ended with $status, not 2: $(head -c 300 "$tmp/err")"
        return
    fi
    holds "'benchcnn $*'" "$tmp/err" "$words"
    [ "$(grep -c '^benchcnn: ' "$tmp/err")" -eq 1 ] ||
        fail "'benchcnn $*' says not one sentence: $(head -c 300 "$tmp/err")"
}
# finish: the last line of a test: its exit status.
finish() {
    [ $tests -eq 0 ] || echo "$tests asked"
    echo "$failures failed"
    [ $failures -eq 0 ]
}
