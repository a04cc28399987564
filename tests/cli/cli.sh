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
# finish: the last line of a test: its exit status.
finish() {
    [ $tests -eq 0 ] || echo "$tests asked"
    echo "$failures failed"
    [ $failures -eq 0 ]
}
