#!/usr/bin/env bash
# test_import.sh BENCHCNN: `import` of hyperfine's, Google Benchmark's and nvbench's files: times in seconds whatever the unit,
# what failed, what is refused and with which words, nothing written of a file that is refused; and what compare, table,
# plot, check and report make of the records.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/cli.sh"
data=tests/data/import
import() { "$benchcnn" import "$@" >"$tmp/out" 2>"$tmp/err"; }
says() { grep -qE -- "$1" "$tmp/out" || fail "nothing like '$1': $(cat "$tmp/out" "$tmp/err")"; }
# has PROGRAM FIELD VALUE: the program's record, to 5 digits
has() {
    local value
    value=$(grep -F "\"program\":\"$1\"" "$tmp/r.jsonl" | head -1 | sed -n "s/.*\"$2\":\(\"[^\"]*\"\|[^,}]*\).*/\1/p")
    [[ $value != [0-9]* ]] || value=$(printf %.5g "$value")
    [ "$value" = "$3" ] || fail "$1: $2 is '$value', and not '$3'"
}

import $data/hyperfine.json $data/google.json $data/nvbench.json --out "$tmp/r.jsonl" || fail "import: $(cat "$tmp/err")"
says '^tests/data/import/hyperfine.json: 2 timings of hyperfine$'
says '^tests/data/import/google.json: 4 timings of Google Benchmark; 1 without a time'
says '^tests/data/import/nvbench.json: 2 timings of nvbench; 1 without a time'
[ "$(wc -l <"$tmp/r.jsonl")" -eq 10 ] || fail "records: $(cat "$tmp/r.jsonl")"
"$benchcnn" check "$tmp/r.jsonl" >"$tmp/out" 2>&1 || fail "check: $(cat "$tmp/out")"
says '^10 records: 0 faults, 0 fields of another version'
has 'sleep 0.02' median_s 0.022202
has 'sleep 0.02' samples 5
has 'sleep 0.02' failed 0
has 'sleep 0.02' source '"hyperfine.json"'
has BM_copy/4096 median_s 3.3694e-06     # ns
has BM_copy/4096 threads 1
has BM_sum/repeats:3 median_s 6.4725e-05 # us, of three repetitions
has BM_sum/repeats:3 mean_s 6.4821e-05
has BM_sum/repeats:3 stddev_s 5.4147e-07
has BM_sum/repeats:3 samples 3
has BM_manual/iterations:3/repeats:2/manual_time median_s 0.5
has BM_fails state '"FAILED"'
has BM_fails reason '"no such device"'
has BM_fails median_s ''
has 'copy BlockSize=128 T=F32' median_s 0.0010031
has 'copy BlockSize=128 T=F32' stddev_s 1.0035e-05
has 'copy BlockSize=128 T=F32' machine '"NVIDIA Quadro GV100"'
has 'copy BlockSize=256 T=F32' median_s ''
has 'copy BlockSize=256 T=F32' mean_s 0.0020027
has 'copy BlockSize=256 T=F32' machine '"NVIDIA Quadro GP100"'
has 'copy BlockSize=4096' state '"SKIPPED"'

# Every unit; aggregates alone; a duration of 0; an exit status; parameters.
for unit in ns:1e-09 us:1e-06 ms:0.001 s:1; do
    echo "{\"context\":{},\"benchmarks\":[{\"name\":\"one\",\"run_type\":\"iteration\",\"real_time\":2,\"cpu_time\":1,\"time_unit\":\"${unit%%:*}\"}]}" >"$tmp/g.json"
    rm -f "$tmp/r.jsonl"
    import "$tmp/g.json" --out "$tmp/r.jsonl" || fail "$unit: $(cat "$tmp/err")"
    has one median_s "$(awk -v unit="${unit##*:}" 'BEGIN { printf "%.6g", 2 * unit }')"
    has one cpu_s "$(printf %.6g "${unit##*:}")"
done
rm "$tmp/r.jsonl"
{
    echo '{"context":{},"benchmarks":['
    for each in mean:3 median:2 stddev:1 cv:0.5; do
        echo "{\"name\":\"two_${each%%:*}\",\"run_name\":\"two\",\"run_type\":\"aggregate\",\"aggregate_name\":\"${each%%:*}\",\"repetitions\":7,\"real_time\":${each##*:},\"time_unit\":\"ms\"},"
    done
    echo '{"name":"three","real_time":0,"time_unit":"ns"}]}'
} >"$tmp/g.json"
echo '{"results":[{"command":"false -n 1","median":2,"times":[1,3],"exit_codes":[1,null],"parameters":{"n":"1"}}]}' >"$tmp/h.json"
import "$tmp/g.json" "$tmp/h.json" --out "$tmp/r.jsonl" || fail "aggregates: $(cat "$tmp/err")"
has two median_s 0.002
has two mean_s 0.003
has two samples 7
has three state '"TOO_SHORT"'
has 'false -n 1' failed 2
grep -q '"parameters":{"n":"1"}' "$tmp/r.jsonl" || fail "no parameters: $(cat "$tmp/r.jsonl")"

# ---- Refused: the file and the place are named, and nothing is written.
bad() { # WORDS TEXT
    printf '%s' "$2" >"$tmp/bad.json"
    refused "bad.json|$1" import $data/hyperfine.json "$tmp/bad.json" --out "$tmp/none.jsonl"
}
bad "is empty" ''
bad "it is torn" "$(head -c 300 $data/hyperfine.json)"
bad "it is torn" "$(head -c 2000 $data/google.json)"
bad "it is torn" "$(head -c 900 $data/nvbench.json)"
bad ":2: this is no JSON" $'{"results":\n[nonsense]}'
bad "neither of hyperfine" '[1,2]'
bad "neither of hyperfine" '{"benchmarks":[]}'
bad "holds no timing of hyperfine" '{"results":[]}'
bad "holds no timing of Google Benchmark" '{"context":{},"benchmarks":[]}'
bad "results[0].median is no number" '{"results":[{"command":"a","median":"1"}]}'
bad "results[0].median is no time above 0" '{"results":[{"command":"a","median":0}]}'
bad "results[1].command is no text" '{"results":[{"command":"a","median":1},{"median":1}]}'
bad "results[0].times[1] is -1" '{"results":[{"command":"a","median":1,"times":[1,-1]}]}'
bad "results[0].times is no list" '{"results":[{"command":"a","median":1,"times":1}]}'
bad "median is 5, and its times' median is 2" '{"results":[{"command":"a","median":5,"times":[1,2,3]}]}'
bad "results[0].parameters is no object" '{"results":[{"command":"a","median":1,"parameters":["n"]}]}'
bad "parameters holds a name twice" '{"results":[{"command":"a","median":1,"parameters":{"n":"1","n":"2"}}]}'
bad "results[0].median is inf" '{"results":[{"command":"a","median":1e999}]}'
bad "benchmarks[0].time_unit is none of ns, us, ms, s" '{"context":{},"benchmarks":[{"name":"a","real_time":1,"time_unit":"min"}]}'
bad "benchmarks[0].real_time is not there" '{"context":{},"benchmarks":[{"name":"a","time_unit":"s"}]}'
bad "benchmarks[0].real_time is -2" '{"context":{},"benchmarks":[{"name":"a","real_time":-2,"time_unit":"s"}]}'
bad "run_type is neither" '{"context":{},"benchmarks":[{"name":"a","run_type":"x","real_time":1,"time_unit":"s"}]}'
bad "benchmarks[1] is no object" '{"context":{},"benchmarks":[{"name":"a","real_time":1,"time_unit":"s"},7]}'
nv() { printf '{"devices":[],"benchmarks":[{"name":"n","states":%s}]}' "$1"; }
bad "states is no list" "$(nv '{"Device=0":{}}')"
bad "benchmarks[0].states[0].nv/cold/time/gpu/mean is no time above 0, or is not there" "$(nv '[{"summaries":[]}]')"
bad "nv/cold/time/gpu/mean is no number" "$(nv '[{"summaries":[{"tag":"nv/cold/time/gpu/mean","data":[{"name":"value","value":"soon"}]}]}]')"
bad "axis_values lacks" "$(nv '[{"axis_values":[{"name":"a"}]}]')"
printf '{"results":[]}\0' >"$tmp/bad.json"
refused "bad.json|byte 15 is a NUL" import "$tmp/bad.json" --out "$tmp/none.jsonl"
printf '[%.0s' {1..5000} >"$tmp/bad.json"
refused "bad.json" import "$tmp/bad.json" --out "$tmp/none.jsonl"
refused "it is a device" import /dev/zero --out "$tmp/none.jsonl"
refused "it is a directory" import "$tmp" --out "$tmp/none.jsonl"
refused "cannot read" import "$tmp/absent.json" --out "$tmp/none.jsonl"
refused "where the records go" import $data/hyperfine.json
refused "they are one file" import $data/hyperfine.json --out $data/hyperfine.json
refused "holds what|name it once" import $data/hyperfine.json $data/hyperfine.json --out "$tmp/none.jsonl"
[ -e "$tmp/none.jsonl" ] && fail "something was written: $(cat "$tmp/none.jsonl")"

# ---- compare: each of hyperfine's processes is a run; a benchmark's file is one, and the same file counts once.
rm "$tmp/r.jsonl"
import $data/*.json --out "$tmp/r.jsonl" || fail "import: $(cat "$tmp/err")"
refused "is in|already" import $data/google.json --out "$tmp/r.jsonl"
"$benchcnn" compare "$tmp/r.jsonl" --across program --baseline 'sleep 0.01' --match 'kind=process' >"$tmp/out" 2>"$tmp/err"
says '^SLOWER .* process sleep 0.01 -> sleep 0.02'
for side in a:1 b:2; do
    for i in 1 2 3; do
        echo "{\"context\":{},\"benchmarks\":[{\"name\":\"one\",\"real_time\":${side##*:}.00$i,\"time_unit\":\"ms\"}]}" >"$tmp/$side.$i.json"
        import "$tmp/$side.$i.json" --out "$tmp/${side%%:*}.jsonl" || fail "import: $(cat "$tmp/err")"
    done
done
"$benchcnn" compare "$tmp/a.jsonl" "$tmp/b.jsonl" >"$tmp/out" 2>"$tmp/err"
says '^SLOWER  +(2\.0|1\.99).* 1\.00 ms -> 2\.00 ms  benchmark one'
"$benchcnn" compare "$tmp/r.jsonl" "$tmp/r.jsonl" --match BlockSize=256 >"$tmp/out" 2>"$tmp/err" # the mean: there is no median
says '2\.00 ms -> 2\.00 ms  benchmark cache cold copy BlockSize=256 T=F32'
grep -q 'import a file of each of several runs' "$tmp/err" || fail "no word of how to get more runs: $(cat "$tmp/err")"

# ---- Names that would be obeyed: as they are in the record, and shown as \x1b.
printf '{"results":[{"command":"a\\u001b[2J`id`$(id)\\n</script>\\u0027\\"","median":1}]}' >"$tmp/odd.json"
import "$tmp/odd.json" --out "$tmp/r.jsonl" || fail "odd: $(cat "$tmp/err")"
"$benchcnn" table "$tmp/r.jsonl" --kind processes >"$tmp/out" 2>"$tmp/err" || fail "table: $(cat "$tmp/err")"
says '^ *a\\x1b\[2J`id`\$\(id\)\\x0a</script>'
LC_ALL=C grep -q -P '[\x00-\x08\x0b-\x1f]' "$tmp/out" && fail "control characters: $(cat -v "$tmp/out")"
"$benchcnn" table "$tmp/r.jsonl" --kind benchmarks --format csv >"$tmp/out" 2>"$tmp/err" || fail "table: $(cat "$tmp/err")"
says '^BM_copy/4096,Google Benchmark,'
if command -v gnuplot >/dev/null; then
    "$benchcnn" plot bars "$tmp/r.jsonl" --out "$tmp/bars" >"$tmp/out" 2>"$tmp/err" || fail "plot: $(cat "$tmp/err")"
    holds "the picture" "$tmp/bars.svg" 'sleep 0.02|BM_sum/repeats:3|Google Benchmark|nvbench|copy BlockSize=128|whole processes'
    grep -q 'NVIDIA Quadro GP100' "$tmp/bars.svg" && fail "two machines in one picture"
    grep -q 'drawing NVIDIA Quadro GV100; 1 figure of other machines' "$tmp/err" || fail "left out without a word: $(cat "$tmp/err")"
fi
# ---- Where and when: with --here alone, and not in place of a machine that the file names.
grep -q '"date"\|"machine":"AMD\|"machine":"Intel' "$tmp/r.jsonl" && fail "a machine or a date that no file tells: $(cat "$tmp/r.jsonl")"
import $data/hyperfine.json $data/nvbench.json --here --out "$tmp/here.jsonl" || fail "--here: $(cat "$tmp/err")"
"$benchcnn" check "$tmp/here.jsonl" >"$tmp/out" 2>&1 || fail "check --here: $(cat "$tmp/out")"
machine=$("$benchcnn" verify --impl cpu:direct --problem mb1ic1ih3oc1kh3 --dir FWD --check exact --quiet --json | sed -n 's/.*"kind":"env".*"cpu":"\([^"]*\)".*/\1/p')
[ -n "$machine" ] && [ "$(grep -c "\"machine\":\"$machine\",\"date\":\"$(date -u +%Y-)" "$tmp/here.jsonl")" -eq 2 ] ||
    fail "--here does not name '$machine' and the date: $(cat "$tmp/here.jsonl")"
[ "$(grep -c '"machine":"NVIDIA Quadro' "$tmp/here.jsonl")" -eq 3 ] || fail "--here took a GPU's place: $(cat "$tmp/here.jsonl")"
if command -v gnuplot >/dev/null; then # each command above its bar, in a row of its own, the files below each other
    sed 's/"results"/"results" /' $data/hyperfine.json >"$tmp/again.json" # another file: another part
    grep '"kind":"process"' "$tmp/here.jsonl" >"$tmp/processes.jsonl"
    import "$tmp/again.json" --here --out "$tmp/processes.jsonl" || fail "again: $(cat "$tmp/err")"
    "$benchcnn" plot bars "$tmp/processes.jsonl" --out "$tmp/processes" >"$tmp/out" 2>"$tmp/err" || fail "plot: $(cat "$tmp/err")"
    holds "the picture of processes" "$tmp/processes.svg" "Times of whole processes|$(date -u +%Y-)|hyperfine|again|slowest of 5;|1.62 ×"
    [ "$(grep -o 'sleep 0.02' "$tmp/processes.svg" | wc -l)" -eq 2 ] || fail "a command of two files does not have two bars"
fi
if /usr/bin/python3 -c 'import jinja2' 2>/dev/null; then
    "$benchcnn" report "$tmp/r.jsonl" --out "$tmp/page.html" >"$tmp/out" 2>"$tmp/err" || fail "report: $(cat "$tmp/err")"
    holds "the page" "$tmp/page.html" 'Benchmarks of other programs|Whole processes|sleep 0.02|BM_sum/repeats:3|NVIDIA Quadro GV100|no such device'
    grep -q '`id`$(id)\\x0a</script>' "$tmp/page.html" && fail "a name ends a script"
fi
finish
