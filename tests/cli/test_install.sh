#!/usr/bin/env bash
# test_install.sh BENCHCNN BUILD_FOLDER [SANITIZERS]: the program that `cmake --install` puts down runs from an empty folder, with what is
# put down beside it and without the sources.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
build=$2 sources=$PWD
prefix=$tmp/prefix
cmake --install "$build" --prefix "$prefix" >"$tmp/out" 2>&1 || { cat "$tmp/out"; exit 1; }
export PATH=$prefix/bin:$PATH
mkdir "$tmp/empty"
cd "$tmp/empty" || exit 1

# expect STATUS WORDS COMMAND...: the exit status, and each of WORDS (separated by '|') in what is said.
expect() {
    local wanted=$1 words=$2 status
    shift 2
    tests=$((tests + 1))
    benchcnn "$@" >"$tmp/said" 2>&1
    status=$?
    [ $status -eq "$wanted" ] || fail "'benchcnn $*' ended with $status, not $wanted: $(head -c 400 "$tmp/said")"
    holds "'benchcnn $*'" "$tmp/said" "$words"
}
for file in bin/benchcnn share/man/man1/benchcnn.1 share/bash-completion/completions/benchcnn share/zsh/site-functions/_benchcnn \
    share/benchcnn/impl_template/Makefile share/doc/benchcnn/README.md share/doc/benchcnn/docs/verify.md include/cnn.h; do
    tests=$((tests + 1))
    [ -s "$prefix/$file" ] || fail "$file is not installed"
done

expect 0 'cpu:direct' list
expect 0 '0 FAILED' verify --net thesis --impl cpu:direct --quiet
expect 0 '0 FAILED' verify --problems thesis --impl cpu:direct --dir FWD --check exact --quiet
expect 0 'all well formed' run cpu_smoke --out dry.jsonl --dry-run

# The files it reads are those of the prefix: one that is there alone is found, and one that is spoiled there is missed.
share=$prefix/share/benchcnn
mv "$share/bench/nets/thesis.net" "$share/bench/nets/only_here.net"
mv "$share/bench/problems/odd.txt" "$share/bench/problems/only_here.txt"
echo "list --quiet" >"$share/bench/recipes/only_here.recipe"
expect 0 'network' train --net only_here --impl cpu --plan
expect 0 '0 FAILED' verify --problems only_here --impl cpu:direct --dir FWD --check exact --quiet
expect 0 '1 commands' run only_here --out dry.jsonl --dry-run
if command -v gnuplot >/dev/null; then
    expect 0 'picture.svg' plot "$sources/results/epoch_over_batch.jsonl" --out picture
    [ -s picture.svg ] || fail "no picture"
    echo 'exit error "only here"' >"$share/plots/over_batch.gp"
    expect 1 'only here' plot "$sources/results/epoch_over_batch.jsonl" --out picture
fi

# The Python module, from the folder where it was put down alone.
module=$(find "$prefix" -name libbenchcnn.so)
module=${module%/benchcnn/libbenchcnn.so}
tests=$((tests + 1))
[ -s "$module/benchcnn/__init__.py" ] || fail "no Python module is installed"
if [ -z "${3:-}" ] && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then # a sanitizer's library would have to be there first
    tests=$((tests + 1))
    PYTHONPATH=$module PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c 'import benchcnn; print(benchcnn.verify("cpu:direct", "mb1ic1ih4oc1kh3"))' >"$tmp/said" 2>&1
    holds "the Python module" "$tmp/said" 'PASSED|cpu:direct'
fi

finish
