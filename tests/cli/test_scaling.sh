#!/usr/bin/env bash
# test_scaling.sh BENCHCNN CC MPI MPIRUN: scaling over ranks: the table and the picture of records that are made up, and `sweep
# ranks`, which starts one and two ranks by a launcher.
# shellcheck source-path=SCRIPTDIR disable=SC2016,SC2054  # what is not to be expanded; commas are an option's
. "$(dirname "$0")/ranks.sh"

# ---- Records that are made up: medians, the same batch, as many images a rank, threads, sums, the model.
made_up() { # NET BATCH RANKS THREADS SECONDS [COMM_STEP_S]
    printf '{"kind":"epoch","impl":"cpu","algorithm":"direct","net":"%s","data":"d","data_on":"device","dtype":"f32","layout":"nchw","knobs":{},"train_images":1000,"batch":%s,"threads":%s,"seconds":%s,"train_s":2%s}\n' \
        "$1" "$2" "$4" "$5" "$([ "$3" -eq 1 ] || echo ",\"ranks\":$3,\"comm_way\":\"MPI\",\"comm_bytes\":1000000,\"comm_step_s\":$6")"
}
line='{"kind":"all_reduce_line","ranks":2,"comm_way":"MPI","rank_devices":{"0":"h: It'"'"'s one"},"alpha_s":0.02,"beta_bytes_per_s":1e9,"off":0.25}'
{
    echo '{"kind":"env","impl":"cpu","cpu":"It'"'"'s one","date":"2026-02-03T04:05:06Z"}'
    for seconds in 4 9 3; do made_up n 100 1 1 $seconds; done
    made_up n 200 1 1 3.5
    made_up n 200 2 1 2 0.04
} >"$tmp/made_up.jsonl"
echo "$line" >"$tmp/sums.jsonl"
"$benchcnn" table "$tmp/made_up.jsonl" "$tmp/sums.jsonl" --kind scaling --format csv >"$tmp/csv" || fail "table --kind scaling: $(cat "$tmp/csv")"
row() { # BATCH RANKS FIELD...: the values of the row, of this $bucket
    awk -v bucket="${bucket:-}" -v batch="$1" -v over="$2" -v fields="${*:3}" -F, '{sub(/\r$/, "")} NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next}
        $at["batch"] == batch && $at["ranks"] == over && ($at["bucket"] == bucket) {n = split(fields, f, " "); for (i = 1; i <= n; i++) printf "%s%s", $at[f[i]], i < n ? " " : "\n"}' "$tmp/csv"
}
is() { [ "$1" = "$2" ] || fail "$3: $1, not $2"; }
is "$(row 100 1 seconds strong weak efficiency comm_share model_s)" '4 1 1 1  ' 'one rank'
# 3.5 s of one; 4 s of one with half of the batch; five sums of 0.04 s in 2 s of training; 4 / 2 s and five of 0.021 s.
is "$(row 200 2 seconds strong weak efficiency comm_share model_s)" '2 1.75 2 0.875 0.1 2.105' 'two ranks'
"$benchcnn" table "$tmp/made_up.jsonl" "$tmp/sums.jsonl" --kind scaling >"$tmp/out" || fail "the table"
holds "the table" "$tmp/out" 'strong +weak +efficiency.*sums +model|n +cpu +direct .* 200 +2 +2[.]00 s +1[.]75 +2 +87[.]5 % .* 10[.]0 % +2[.]1. s +5[.][23] %|model of n, cpu:direct: what was not measured|as 2 ranks measured them .off by up to 25[.]0 %' -E
"$benchcnn" table "$tmp/made_up.jsonl" --kind scaling >"$tmp/out" || fail "the table without sums"
holds "no sums" "$tmp/out" "none: no record says what sums by MPI take between ranks|benchcnn peaks --impl cpu"
{
    head -1 "$tmp/made_up.jsonl"
    made_up n 200 2 1 2.5 '0.03,"comm_flight_s":0.12,"bucket":64'
} >"$tmp/buckets.jsonl"
"$benchcnn" table "$tmp/made_up.jsonl" "$tmp/buckets.jsonl" --kind scaling --format csv >"$tmp/csv" || fail "the table with buckets: $(cat "$tmp/csv")"
is "$(bucket=64 row 200 2 seconds strong weak efficiency comm_share comm_hidden)" '2.5 1.4 1.6 0.7 0.075 0.75' 'two ranks, with buckets'
is "$(row 200 2 seconds strong comm_hidden)" '2 1.75 ' 'one sum, beside buckets, hides nothing'
head -4 "$tmp/made_up.jsonl" >"$tmp/alone.jsonl"
refused 'no epochs over several ranks|sweep ranks=1,2' table "$tmp/alone.jsonl" --kind scaling
refused 'no epochs over several ranks' plot ranks "$tmp/alone.jsonl"
refused 'plot ranks needs record files' plot ranks

# ---- The picture: several files and networks, names that gnuplot or a terminal would obey.
if command -v gnuplot >/dev/null; then
    { head -1 "$tmp/made_up.jsonl"; for batch in 8 16 32 64 128 256 512; do made_up 'a$(id)`id`\u001b[2J\u0027\"' $batch 1 1 1; made_up 'a$(id)`id`\u001b[2J\u0027\"' $batch 2 1 0.6 0.01; done; } >"$tmp/odd.jsonl"
    "$benchcnn" plot ranks "$tmp/made_up.jsonl" "$tmp/odd.jsonl" "$tmp/sums.jsonl" --out "$tmp/drawn" >"$tmp/out" 2>"$tmp/err" || fail "plot ranks: $(cat "$tmp/err")"
    holds "plot ranks" "$tmp/err" '1 more than can be told apart of its batches: in the table alone'
    [ "$(wc -l <"$tmp/err")" -eq 1 ] || fail "plot ranks complains: $(cat "$tmp/err")"
    [ "$(head -c 8 "$tmp/drawn.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] || fail "the PNG is none"
    sed 's/&apos;/'"'"'/g; s/&#39;/'"'"'/g' "$tmp/drawn.svg" >"$tmp/svg"
    holds "the picture" "$tmp/svg" "Scaling over ranks: measured, and a model up to 1,024 ranks|model, not measured|It's one|measured 2026-02-03|n, cpu:direct|strong: times as fast as one rank|gains up to|"'$(id)`id`\x1b[2J'
    "$benchcnn" plot "$tmp/made_up.jsonl" --out "$tmp/epochs" >/dev/null 2>"$tmp/err" || fail "plot without a kind"
    grep -q 'plot ranks' "$tmp/err" || fail "plot does not name ranks: $(cat "$tmp/err")"
    "$benchcnn" plot ranks "$tmp/made_up.jsonl" --out "$tmp/alone" >"$tmp/out" 2>&1 || fail "a picture without a model: $(cat "$tmp/out")"
    holds "no model" "$tmp/alone.svg" 'no model: see the table'
fi

# ---- What is no sweep over ranks, before anything is started.
sweep() { # WORDS ARGUMENTS...
    refused "$1" sweep "${@:2}" --net "$tmp/small.net" --data synthetic --images 400,100 --impl cpu:direct
}
out=(--out "$tmp/s.jsonl")
sweep 'which numbers of them' ranks "${out[@]}"
sweep 'whole numbers from 1 on' ranks=1,0 "${out[@]}"
sweep 'leaves nothing to sweep' ranks=1 "${out[@]}"
sweep 'needs --out' ranks=1,2 --batch 20
sweep '--batch 20 cannot be shared out evenly among 3 ranks: give a multiple of 3' ranks=1,3 --batch 30,20 "${out[@]}"
sweep '--weak is of what one rank trains' ranks=2,4 --batch 20 --weak "${out[@]}"
sweep '--save does not go with sweep ranks' ranks=1,2 --batch 20 --save "$tmp/w" "${out[@]}"
sweep "has no {}, where the number of ranks stands" ranks=1,2 --batch 20 --launcher srun "${out[@]}"
sweep "is no command" ranks=1,2 --batch 20 --launcher 'mpirun -n {}; ls' "${out[@]}"
refused '--weak goes with sweep ranks' train --net thesis --impl cpu:direct --weak
refused '--launcher goes with sweep ranks' sweep batch --impl cpu:direct --launcher 'srun -n {}'
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 sweep 'start it without a launcher' ranks=1,2 --batch 20 "${out[@]}"
[ -e "$tmp/s.jsonl" ] && fail "what was refused has written"
common=(sweep ranks=1,2 --net "$tmp/small.net" --data synthetic --images 400,100 --batch 20,40 --impl cpu:direct --threads 1 --quiet)
"$benchcnn" "${common[@]}" --launcher "/nowhere/mpirun -n {}" "${out[@]}" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] || fail "a launcher that is not there: not status 3"
holds "a launcher that is not there" "$tmp/err" '/nowhere/mpirun is not installed|1 rank: `benchcnn train` ended with status 3'
"$benchcnn" "${common[@]}" --launcher "false {}" "${out[@]}" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] || fail "a launcher that fails: not status 1"
[ "$(wc -l <"$tmp/err")" -eq 1 ] || fail "a launcher that fails is not told once: $(cat "$tmp/err")"

# ---- One rank and two.
[ "$mpi" = ON ] || { finish; exit; }
launcher="$mpirun --bind-to none -n {}"
tests=$((tests + 1))
timeout 60 "$benchcnn" "${common[@]}" --weak --launcher "$launcher" "${out[@]}" >"$tmp/out" 2>"$tmp/err" || fail "sweep ranks: $(cat "$tmp/err")"
[ "$(grep -c '"kind":"epoch"' "$tmp/s.jsonl")" -eq 5 ] || fail "not 3 batches on one rank and 2 on two: $(grep -c '"kind":"epoch"' "$tmp/s.jsonl")"
[ "$(grep -c '"kind":"epoch".*"batch":10,' "$tmp/s.jsonl")" -eq 1 ] || fail "--weak does not train batch 10"
[ "$(grep -c '"kind":"all_reduce_line".*"ranks":2' "$tmp/s.jsonl")" -eq 1 ] || fail "sums are not measured"
holds "its table" "$tmp/out" 'small +cpu +direct +1 +40 +2 .* %( +[a-z,]+)?$|model of small, cpu:direct: what|least epoch on' -E
"$benchcnn" check "$tmp/s.jsonl" >/dev/null || fail "what it records is not whole"
cp "$tmp/s.jsonl" "$tmp/before"
timeout 60 "$benchcnn" "${common[@]}" --weak --launcher "$launcher" "${out[@]}" >"$tmp/out" 2>"$tmp/err" || fail "once more: $(cat "$tmp/err")"
diff <(grep -v '"kind":"\(begin\|end\|env\)"' "$tmp/before") <(grep -v '"kind":"\(begin\|end\|env\)"' "$tmp/s.jsonl") >/dev/null || fail "what the file holds is run again"
grep -q 'least epoch on' "$tmp/out" || fail "no table the second time"
finish
