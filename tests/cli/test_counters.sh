#!/usr/bin/env bash
# test_counters.sh BENCHCNN CC: `bench --counters`: a kernel that asks the system for pages is told from one that does not, in
# lines and in records; what cannot be counted is said, once.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
export CC=$2
unset CFLAGS
one=(--op conv --dir FWD --problem mb2ic3ih8oc4oh8kh3ph1 --threads 1 --min-time 0.001 --max-time 0.05 --peaks none)
args=x,w,b,y,mb,ic,ih,iw,oc,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw
# The example, with sixteen new pages in every call, which are given back.
{
    printf '#include <sys/mman.h>\n'
    sed -E 's/^\{$/{\n    volatile char *page = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n    for (int i = 0; i < 65536; i += 4096) page[i] = 1;\n    munmap((void *)page, 65536);/' impl_template/kernels/conv.c
} >"$tmp/paging.c"
grep -q mmap "$tmp/paging.c" || fail "the example is of another form"
cp impl_template/kernels/conv.c "$tmp/plain.c"
for name in plain paging; do
    "$benchcnn" bench --kernel "$tmp/$name.c:conv" --args $args "${one[@]}" --counters page_faults,task_ns,instructions \
        --out "$tmp/$name.jsonl" >"$tmp/$name" 2>&1 || fail "$name: $(cat "$tmp/$name")"
    "$benchcnn" check "$tmp/$name.jsonl" >"$tmp/out" 2>&1 || fail "records of $name: $(cat "$tmp/out")"
done
if ! grep -q '"page_faults":' "$tmp/plain.jsonl"; then
    grep -qE '^not counted: .*page_faults' "$tmp/plain" || fail "page faults are neither counted nor refused: $(cat "$tmp/plain")"
    echo "SKIPPED: page faults are not counted here"
    exit 77
fi
faults() { sed -n 's/.*"counted":{[^}]*"page_faults":\([0-9]*\).*"counted_runs":\([0-9]*\).*/\1 \2/p' "$tmp/$1.jsonl"; }
faults plain | awk '{ exit !($2 >= 3 && $1 < $2) }' || fail "a kernel that asks for no pages: faults, runs: $(faults plain)"
faults paging | awk '{ exit !($1 >= 16 * $2 && $1 < 17 * $2 + 200) }' || fail "16 pages a call: faults, runs: $(faults paging)"
grep -qE '^ +a run: (.*, )?16(\.[0-9])? page_faults' "$tmp/paging" || fail "no line of 16 page faults a run: $(cat "$tmp/paging")"
if ! grep -q '"instructions":' "$tmp/plain.jsonl"; then
    [ "$(grep -c '^not counted: .*instructions: ' "$tmp/plain")" -eq 1 ] || fail "instructions: refused in no word, or twice: $(cat "$tmp/plain")"
else
    grep -qE 'a run: .* instructions' "$tmp/plain" || fail "no line of instructions: $(cat "$tmp/plain")"
fi

# What can be counted is in the table of docs/bench.md.
names=$(sed -n 's/^COUNTER(\([a-z0-9_]*\),.*/\1/p' harness/cpu/counters.inc)
[ "$(wc -w <<<"$names")" -ge 13 ] || fail "no table of counters: $names"
for name in $names; do
    grep -qE "^\|.*\`$name\`.*\|.*\|$" docs/bench.md || fail "docs/bench.md does not explain $name"
done

refused "no counter is named 'faults'|there are all, cycles, |page_faults" bench --impl cpu:naive "${one[@]}" --counters cycles,faults
refused 'not with --cache cold' bench --impl cpu:naive "${one[@]}" --counters cycles --cache cold
refused '--counters' bench --impl cpu:naive "${one[@]}" --counters cycles --runs 3
finish
