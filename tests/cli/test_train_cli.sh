#!/usr/bin/env bash
# test_train_cli.sh BENCHCNN_MOCK: how steps are run is in the records, changes no result, and a device that fails in
# mid-run is named and costs no finished record. The mock device stands in for a real one.
set -u
benchcnn=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
printf 'input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nrelu\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/small.net"
common=(--net "$tmp/small.net" --data synthetic --images 200,50 --threads 1 --quiet)
fail() { echo "FAILED: $*"; exit 1; }
epochs() { grep -c '"kind":"epoch"' "$1"; }
holds() { grep '"kind":"epoch"' "$1" | head -1 | grep -q -- "$2" || fail "$1 lacks $2: $(grep epoch "$1" | head -1)"; }
losses() { grep -o '"\(train\|test\)_loss":[^,]*' "$1"; }

# The same results whatever the way, and the way in the record.
train() { "$benchcnn" train "${common[@]}" --epochs 2 --batch 7 --out "$tmp/$1.jsonl" "${@:2}" >"$tmp/log" 2>&1 || fail "$1: $(cat "$tmp/log")"; }
train graph --impl mock:direct
train eager --impl mock:direct --no-graph
train host --impl mock:direct --data-on host
train cpu --impl cpu:direct
train cpuhost --impl cpu:direct --data-on host
for way in eager host cpu cpuhost; do
    [ "$(losses "$tmp/graph.jsonl")" = "$(losses "$tmp/$way.jsonl")" ] || fail "$way has other losses than graph"
done
[ "$(losses "$tmp/graph.jsonl" | wc -l)" -eq 4 ] || fail "there are not four losses in two epochs"
holds "$tmp/graph.jsonl" '"data_on":"device","graph":true'
holds "$tmp/graph.jsonl" '"transfer_s":0'
holds "$tmp/eager.jsonl" '"graph":false'
holds "$tmp/graph.jsonl" '"host_step_s":[0-9]' # what the host takes to queue a step, where it does not wait
holds "$tmp/eager.jsonl" '"host_step_s":[0-9]'
holds "$tmp/host.jsonl" '"host_step_s":null'
holds "$tmp/cpu.jsonl" '"host_step_s":null'
holds "$tmp/host.jsonl" '"data_on":"host","graph":true'
holds "$tmp/host.jsonl" '"transfer_s":37' # 29 + 8 batches; the mock says a second each
holds "$tmp/cpu.jsonl" '"data_on":"device","graph":false'
holds "$tmp/cpuhost.jsonl" '"data_on":"host","graph":false'

# What searching algorithms settled on is in every record that rests on it, and nowhere else.
grep -q '"choice"' "$tmp/graph.jsonl" && fail "a choice where nothing is searched"
train found --impl mock:direct --set mock.searches=1
holds "$tmp/found.jsonl" '"choice":"conv1 FWD found_0, conv1 BWD_W found_2"'
"$benchcnn" sweep batch "${common[@]}" --impl mock:direct --set mock.searches=1 --batch 7 --out "$tmp/found_sweep.jsonl" >"$tmp/log" 2>&1
holds "$tmp/found_sweep.jsonl" '"choice":"conv1 FWD found_0, conv1 BWD_W found_2"'
"$benchcnn" verify --impl mock:direct --set mock.searches=1 --problem mb1ic2ih5oc3kh3 --check bound --out "$tmp/found_verify.jsonl" >"$tmp/log" 2>&1
[ "$(grep -c '"choice":"found_[012]"' "$tmp/found_verify.jsonl")" -eq 3 ] || fail "verify's records lack the choice: $(cat "$tmp/found_verify.jsonl")"

# A profile: the same losses, rows that sum to the epoch, and no record that could be taken for an unprofiled epoch.
train profile --impl mock:direct --profile
grep -q '^all .*100.00 %$' "$tmp/log" || fail "the profile's rows do not sum to the epoch: $(cat "$tmp/log")"
grep -q 'kernel' "$tmp/log" || fail "the profile names no phase"
[ "$(losses "$tmp/graph.jsonl")" = "$(losses "$tmp/profile.jsonl")" ] || fail "a profiled epoch has other losses"
[ "$(epochs "$tmp/profile.jsonl")" -eq 0 ] || fail "a profiled epoch stands among the others"
[ "$(grep -c '"kind":"profiled_epoch"' "$tmp/profile.jsonl")" -eq 2 ] || fail "there are not two profiled epochs"
awk -F'"seconds":' '/"kind":"profile"/ {split($2, a, ","); sum += a[1]} /"kind":"profiled_epoch"/ {split($2, a, ","); all += a[1]}
    END {exit !(sum > 0 && (sum - all) ^ 2 < (1e-6 * all) ^ 2)}' "$tmp/profile.jsonl" || fail "the rows' records do not sum up"
grep -q 'of an unprofiled one' "$tmp/log" && fail "unprofiled epochs where there are none"
train graph --impl mock:direct --profile
grep -q 'of an unprofiled one.*median of 2' "$tmp/log" || fail "unprofiled epochs of the same file are not found: $(cat "$tmp/log")"

# Images that are moved: again the same results whatever the way, others than without, and by how much in the record.
for way in graph eager host cpu cpuhost; do
    case $way in
    graph) how=(--impl mock:direct) ;;
    eager) how=(--impl mock:direct --no-graph) ;;
    host) how=(--impl mock:direct --data-on host) ;;
    cpu) how=(--impl cpu:direct) ;;
    cpuhost) how=(--impl cpu:direct --data-on host) ;;
    esac
    train "moved-$way" "${how[@]}" --shift 2
    grep -q '^small on .*[, ]shift 2[,;]' "$tmp/log" || fail "$way: the head does not say the shift: $(cat "$tmp/log")"
    [ "$(epochs "$tmp/moved-$way.jsonl")" -eq "$(grep -c '"kind":"epoch".*"shift":2[,}]' "$tmp/moved-$way.jsonl")" ] ||
        fail "$way: the shift is not in every record"
    [ "$(losses "$tmp/moved-graph.jsonl")" = "$(losses "$tmp/moved-$way.jsonl")" ] || fail "moved, $way has other losses than graph"
done
[ "$(losses "$tmp/moved-graph.jsonl" | wc -l)" -eq 4 ] || fail "moved, there are not four losses in two epochs"
[ "$(losses "$tmp/moved-graph.jsonl" | sort -u | wc -l)" -eq 4 ] || fail "moved, two epochs have the same losses"
for which in train_loss test_loss; do
    diff <(losses "$tmp/cpu.jsonl" | grep $which) <(losses "$tmp/moved-graph.jsonl" | grep $which) | grep -c '^[<>]' | grep -qx 4 ||
        fail "a shift of 2 leaves a $which as it is"
done
train none --impl mock:direct --shift 0
grep -q '^small on .*shift' "$tmp/log" && fail "the head tells of a shift where there is none: $(cat "$tmp/log")"
[ "$(losses "$tmp/cpu.jsonl")" = "$(losses "$tmp/none.jsonl")" ] || fail "--shift 0 is not the same as none"
holds "$tmp/none.jsonl" '"shift":0[,}]'
holds "$tmp/cpu.jsonl" '"shift":0[,}]'
train moved-profile --impl mock:direct --shift 2 --profile
[ "$(losses "$tmp/moved-graph.jsonl")" = "$(losses "$tmp/moved-profile.jsonl")" ] || fail "moved, a profiled epoch has other losses"
train eager --impl mock:direct --no-graph --shift 2 --profile
grep -q 'of an unprofiled one' "$tmp/log" && fail "an unprofiled epoch of unmoved images is taken for one of moved ones"
for layout in nchw nhwc; do # the same images, summed up in another order; records have nine digits
    "$benchcnn" train "${common[@]}" --batch 200 --impl cpu:direct --dtype f64 --layout $layout --shift 2 --out "$tmp/moved-$layout.jsonl" \
        >"$tmp/log" 2>&1 || fail "$layout: $(cat "$tmp/log")"
done
loss() { losses "$1" | head -1 | cut -d: -f2; }
awk -v a="$(loss "$tmp/moved-nchw.jsonl")" -v b="$(loss "$tmp/moved-nhwc.jsonl")" 'BEGIN {exit !(a > 0 && (a - b) ^ 2 < (2e-9 * a) ^ 2)}' ||
    fail "nhwc moves images otherwise than nchw: $(loss "$tmp/moved-nchw.jsonl") $(loss "$tmp/moved-nhwc.jsonl")"

# A checkpoint goes on with its own shifts, the next epoch's, and is refused for another.
keep=(--impl mock:direct --batch 7 --checkpoint "$tmp/kept")
"$benchcnn" train "${common[@]}" "${keep[@]}" --shift 2 --epochs 1 --out "$tmp/halves.jsonl" >"$tmp/log" 2>&1 || fail "a first half: $(cat "$tmp/log")"
for other in '' '--shift 0' '--shift 1' '--shift 3'; do
    # shellcheck disable=SC2086  # an option and its value, or nothing
    "$benchcnn" train "${common[@]}" "${keep[@]}" --epochs 2 $other >"$tmp/log" 2>"$tmp/err"
    [ $? -eq 2 ] || fail "a checkpoint of --shift 2 is taken for '$other': $(cat "$tmp/log")"
    grep -q 'is of another run.*shift 2' "$tmp/err" || fail "why '$other' is refused is not said: $(cat "$tmp/err")"
done
"$benchcnn" train "${common[@]}" "${keep[@]}" --shift 2 --epochs 2 --out "$tmp/halves.jsonl" >"$tmp/log" 2>&1 || fail "a second half: $(cat "$tmp/log")"
[ "$(losses "$tmp/halves.jsonl")" = "$(losses "$tmp/moved-graph.jsonl")" ] || fail "moved, two halves differ from the whole"

# Shifts that leave nothing of an image, and those that are none: a sentence that says what would do.
refused() { # WORD OPTION...
    local word=$1
    shift
    "$benchcnn" train "$@" >"$tmp/log" 2>"$tmp/err"
    [ $? -eq 2 ] || fail "$*: not refused: $(cat "$tmp/log" "$tmp/err")"
    grep 'shift' "$tmp/err" | grep -q -- "$word" || fail "$*: no word of '$word': $(cat "$tmp/err")"
    [ "$(grep -vc 'warning:' "$tmp/err")" -le 2 ] || fail "$*: more than a sentence: $(cat "$tmp/err")"
}
for impl in cpu mock; do
    for where in device host; do
        refused 28 "${common[@]}" --net thesis --impl $impl --data-on $where --shift 28
        refused 8 "${common[@]}" --impl $impl --data-on $where --shift 8
        refused -1 "${common[@]}" --impl $impl --data-on $where --shift -1
    done
done
refused 1000000 "${common[@]}" --impl cpu --shift 1000000
refused 1.5 "${common[@]}" --impl cpu --shift 1.5
refused 65536 "${common[@]}" --impl cpu --shift 65536
train most --impl cpu:direct --shift 7
holds "$tmp/most.jsonl" '"shift":7[,}]'

# What was trained on moved images is no point of a sweep over unmoved ones; older records, which say nothing, are.
point=(sweep batch "${common[@]}" --impl mock:direct --batch 10 --epochs 1 --out "$tmp/points.jsonl")
"$benchcnn" train "${common[@]}" --impl mock:direct --batch 10 --shift 2 --out "$tmp/points.jsonl" >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
"$benchcnn" "${point[@]}" >"$tmp/log" 2>&1 || fail "a sweep beside moved images: $(cat "$tmp/log")"
[ "$(epochs "$tmp/points.jsonl")" -eq 2 ] || fail "an epoch on moved images is taken for one on unmoved ones"
sed -i '/"shift":2/d; s/,"shift":0//' "$tmp/points.jsonl"
grep -q '"shift"' "$tmp/points.jsonl" && fail "there is still a shift in $(cat "$tmp/points.jsonl")"
"$benchcnn" "${point[@]}" >"$tmp/log" 2>&1 || fail "a sweep beside older records: $(cat "$tmp/log")"
[ "$(epochs "$tmp/points.jsonl")" -eq 1 ] || fail "an older record is not taken for a point without a shift"

# A sweep takes other ways for other points, and the same way for the same point. (Steps that are repeated are operations
# as well: a seed makes them the same in every run.)
sweep=("$benchcnn" sweep batch "${common[@]}" --impl mock:direct --batch 5,10,20 --epochs 2 --out "$tmp/sweep.jsonl")
"${sweep[@]}" --set mock.fail_at=5060 --check-seed 3 >"$tmp/log" 2>"$tmp/err"
status=$?
[ $status -eq 1 ] || fail "a device error ended the sweep with $status, not 1: $(cat "$tmp/err")"
grep -q 'small at batch .*training.*operation 5060 failed' "$tmp/err" || fail "the failure is not named: $(cat "$tmp/err")"
kept=$(epochs "$tmp/sweep.jsonl")
[ "$kept" -ge 1 ] || fail "no finished record is left"
[ "$kept" -lt 6 ] || fail "the failure came too late to test anything"
"${sweep[@]}" >"$tmp/log" 2>&1 || fail "the sweep did not go on: $(cat "$tmp/log")"
before=$(epochs "$tmp/sweep.jsonl")
"${sweep[@]}" >"$tmp/log" 2>&1
[ "$(epochs "$tmp/sweep.jsonl")" -eq "$before" ] || fail "a finished sweep ran again"
"${sweep[@]}" --no-graph >"$tmp/log" 2>&1
[ "$(epochs "$tmp/sweep.jsonl")" -eq $((before + 6)) ] || fail "without graphs the points were taken for those with"

# Other work on the machine shows in the figures: in the line, the record and the table. More than 5 % of the processors is
# marked: a loop for each four of them is enough, over an epoch of some tenths of a second.
loops=()
for _ in $(seq $(($(nproc) / 4 + 1))); do (while :; do :; done) & loops+=($!); done
images=5000,50
[ -z "${TEST_SANITIZED:-}" ] || images=100,20 # an epoch takes as long
busy=("${common[@]}" --net thesis --impl cpu:direct --images $images --batch 20)
"$benchcnn" train "${busy[@]}" --out "$tmp/busy.jsonl" >"$tmp/log" 2>&1
"$benchcnn" sweep batch "${busy[@]}" --out "$tmp/busy2.jsonl" >>"$tmp/log" 2>&1
kill "${loops[@]}"
wait "${loops[@]}" 2>/dev/null
[ "$(grep -c '^ *1 .*disturbed' "$tmp/log")" -eq 2 ] || fail "a disturbed epoch is not marked: $(cat "$tmp/log")"
grep -qE '^ +20 .*[0-9] d$' "$tmp/log" || fail "a disturbed point is not marked: $(cat "$tmp/log")"
[ "$(grep -h '"kind":"epoch"' "$tmp/busy.jsonl" "$tmp/busy2.jsonl" | grep -c '"foreign":.*"marks":"disturbed"')" -eq 2 ] || fail "disturbed epochs are not marked in their records"

# Lists: batch sizes are the outer loop; a table at the end. What the file holds is said to be there, and not run again,
# by either command; but for what asks for more than epochs. A kill in the middle costs no finished point.
lists=("${common[@]}" --impl cpu:direct,cpu:naive --batch 10,20 --epochs 2)
order() { grep '"kind":"epoch"' "$1" | sed 's/.*"algorithm":"\([a-z]*\)".*"batch":\([0-9]*\).*"epoch":\([0-9]*\).*/\2\1\3/' | paste -sd' '; }
whole='10direct1 10direct2 10naive1 10naive2 20direct1 20direct2 20naive1 20naive2'
"$benchcnn" train "${lists[@]}" --out "$tmp/lists.jsonl" >"$tmp/log" 2>&1 || fail "lists: $(cat "$tmp/log")"
[ "$(order "$tmp/lists.jsonl")" = "$whole" ] || fail "lists: not in order, or not all: $(order "$tmp/lists.jsonl")"
[ "$(grep -cE '^ +(10|20)( +[0-9.]+( [a-z]+)?){2}$' "$tmp/log")" -eq 2 ] || fail "no table of two rows and two columns: $(cat "$tmp/log")"
for command in train 'sweep batch'; do
    # shellcheck disable=SC2086
    "$benchcnn" $command "${lists[@]}" --out "$tmp/lists.jsonl" >"$tmp/log" 2>&1 || fail "$command again: $(cat "$tmp/log")"
    [ "$(grep -c 'already in' "$tmp/log")" -eq 4 ] && [ "$(order "$tmp/lists.jsonl")" = "$whole" ] || fail "$command ran again what is there: $(cat "$tmp/log")"
    [ "$(grep -cE '^ +(10|20)( +[0-9.]+( [a-z]+)?){2}$' "$tmp/log")" -eq 2 ] || fail "$command: what is there is not in the table: $(cat "$tmp/log")"
done
"$benchcnn" train "${lists[@]}" --samples --out "$tmp/lists.jsonl" >"$tmp/log" 2>&1
[ "$(grep -c '"kind":"losses"' "$tmp/lists.jsonl")" -eq 8 ] || fail "--samples: not the losses of each epoch, where epochs are there"
[ "$(grep '"kind":"losses".*"batch":20' "$tmp/lists.jsonl" | tail -1 | sed 's/.*"losses":\[\([^]]*\)\].*/\1/' | tr , '\n' | wc -l)" -eq 10 ] || fail "not the losses of 200 / 20 steps"
for command in train 'sweep batch'; do
    rm -f "$tmp/lists.jsonl"
    for signal in KILL INT; do
        before=$([ -f "$tmp/lists.jsonl" ] && epochs "$tmp/lists.jsonl" || echo 0)
        # shellcheck disable=SC2086
        "$benchcnn" $command "${lists[@]}" --images 4000,50 --out "$tmp/lists.jsonl" >"$tmp/log" 2>&1 &
        pid=$!
        for _ in $(seq 6000); do
            [ -f "$tmp/lists.jsonl" ] && [ "$(epochs "$tmp/lists.jsonl")" -gt "$before" ] && break
            sleep 0.01
        done
        kill -s $signal $pid 2>/dev/null
        wait $pid 2>/dev/null
        status=$?
        [ $signal = KILL ] || [ $status -eq 130 ] || fail "an interrupted $command ended with $status, not 130"
    done
    [ "$(epochs "$tmp/lists.jsonl")" -lt 8 ] || fail "the signals came too late to test anything"
    # shellcheck disable=SC2086
    "$benchcnn" $command "${lists[@]}" --images 4000,50 --out "$tmp/lists.jsonl" >"$tmp/log" 2>&1 || fail "$command did not go on: $(cat "$tmp/log")"
    [ "$(order "$tmp/lists.jsonl")" = "$whole" ] || fail "stopped twice, $command has not each epoch once: $(order "$tmp/lists.jsonl")"
done

# One of several points that cannot run is named and passed over; a single one is the command's error; none: status 3.
refuses=("${common[@]}" --impl mock:direct --set mock.memory=150000)
"$benchcnn" train "${refuses[@]}" --batch 5,200 >"$tmp/log" 2>"$tmp/err" || fail "the smaller batch did not run: $(cat "$tmp/err")"
grep -q 'batch 200 mock:direct: ' "$tmp/err" && grep -qE '^ +200 +-$' "$tmp/log" || fail "the larger batch is not named: $(cat "$tmp/log" "$tmp/err")"
"$benchcnn" train "${refuses[@]}" --batch 200 >"$tmp/log" 2>&1
[ $? -eq 2 ] || fail "a point that has no room is no error: $(cat "$tmp/log")"
"$benchcnn" train "${refuses[@]}" --batch 180,200 >"$tmp/log" 2>&1
[ $? -eq 3 ] || fail "nothing could run, and that is not status 3: $(cat "$tmp/log")"

# A training that diverges: a sentence, no figure, no point; again, it is done and no success.
wild=(--impl cpu:direct --optimizer sgd,lr=1e30)
"$benchcnn" train "${common[@]}" "${wild[@]}" --out "$tmp/wild.jsonl" >"$tmp/log" 2>"$tmp/err"
[ $? -eq 1 ] || fail "a diverged training is no failure"
grep -q 'diverged with --optimizer sgd,lr=1e+30.*not finite' "$tmp/err" || fail "divergence is not said: $(cat "$tmp/err")"
grep -q 'nan' "$tmp/log" && fail "a NaN is shown: $(cat "$tmp/log")"
for _ in 1 2; do # nor is one that goes on from a checkpoint, or is there already
    "$benchcnn" train "${common[@]}" "${wild[@]}" --checkpoint "$tmp/wild.kept" >"$tmp/log" 2>&1
    [ $? -eq 1 ] || fail "a diverged training with a checkpoint is no failure: $(cat "$tmp/log")"
done
"$benchcnn" train "${common[@]}" "${wild[@]}" --out "$tmp/wild.jsonl" >"$tmp/log" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q 'already in' "$tmp/log" || fail "a diverged training that is there is no failure: $(cat "$tmp/log")"
grep -q '"seconds":null.*"diverged":true' "$tmp/wild.jsonl" || fail "a diverged epoch has a figure: $(grep epoch "$tmp/wild.jsonl")"
for _ in 1 2; do
    "$benchcnn" sweep batch "${common[@]}" "${wild[@]}" --batch 20 --out "$tmp/wild2.jsonl" >"$tmp/log" 2>"$tmp/err"
    [ $? -eq 1 ] || fail "a diverged point is no failure"
    grep -q '^ *20 *diverged$' "$tmp/log" && grep -q 'batch 20, diverged with --optimizer' "$tmp/err" || fail "a diverged point: $(cat "$tmp/log" "$tmp/err")"
done
[ "$(epochs "$tmp/wild2.jsonl")" -eq 1 ] || fail "a diverged point ran again"
"$benchcnn" plot "$tmp/wild2.jsonl" >/dev/null 2>"$tmp/err" && fail "a diverged point is drawn"
grep -q 'diverged' "$tmp/err" || fail "why nothing is drawn is not said: $(cat "$tmp/err")"

# An epoch's figure is of verified training. One in which the backward pass stops is none: no seconds, no loss, no
# checkpoint, exit status 1; the seed repeats the steps that were compared; the same command begins anew.
holds "$tmp/graph.jsonl" '"verified":true,"checked":"train [0-9].*, test [0-9].*","check_seed":[1-9]'
[ "$(grep -o '"check_seed":[0-9]*' "$tmp/graph.jsonl" "$tmp/eager.jsonl" | cut -d: -f3 | sort -u | wc -l)" -eq 4 ] || fail "steps are not drawn anew"
rests=(--impl mock:direct --batch 7 --epochs 3 --set mock.rests_from=700)
"$benchcnn" train "${common[@]}" "${rests[@]}" --out "$tmp/rests.jsonl" --checkpoint "$tmp/rests.kept" >"$tmp/log" 2>"$tmp/err"
[ $? -eq 1 ] || fail "a backward pass that stops is no failure: $(cat "$tmp/log" "$tmp/err")"
grep -q 'FAILED: training step.*gradient\|FAILED: training steps.*run again' "$tmp/log" || fail "why is not said: $(cat "$tmp/log")"
grep -q 'has no figure.*--check-seed [0-9]' "$tmp/err" || fail "how it is repeated is not said: $(cat "$tmp/err")"
grep '"kind":"epoch"' "$tmp/rests.jsonl" | tail -1 | grep -q '"seconds":null.*"train_loss":null.*"test_accuracy":null.*"verified":false.*"state":"FAILED","reason":"training step' ||
    fail "the record of a wrong epoch: $(tail -1 "$tmp/rests.jsonl")"
kept=$(grep -c '"verified":true' "$tmp/rests.jsonl")
[ "$(epochs "$tmp/rests.jsonl")" -eq $((kept + 1)) ] || fail "it went on behind a wrong epoch"
for _ in 1 2; do
    "$benchcnn" sweep batch "${common[@]}" --impl mock:direct,cpu:direct --batch 7 --set mock.rests_from=150 --out "$tmp/rests2.jsonl" >"$tmp/log" 2>"$tmp/err"
    [ $? -eq 1 ] || fail "a wrong point is no failure: $(cat "$tmp/log" "$tmp/err")"
    grep -q 'FAILED: training step' "$tmp/log" && grep -q 'mock:direct.*has no figure' "$tmp/err" && grep -q '^ *7  *-  *[0-9.]*' "$tmp/log" || fail "a wrong point: $(cat "$tmp/log")"
done
[ "$(grep -c '"state":"FAILED"' "$tmp/rests2.jsonl")" -eq 2 ] || fail "a wrong point counts as done"
"$benchcnn" train "${common[@]}" --impl cpu --batch 7 --check-seed 5 --out "$tmp/seed.jsonl" >/dev/null 2>&1
"$benchcnn" train "${common[@]}" --impl mock --batch 7 --check-seed 5 --no-graph --data-on host --out "$tmp/seed.jsonl" >/dev/null 2>&1
[ "$(grep -c '"check_seed":5[,}]' "$tmp/seed.jsonl")" -eq 2 ] || fail "--check-seed is not taken"

# A batch too large for the device: said before anything is allocated; the others of the sweep run.
"$benchcnn" sweep batch "${common[@]}" --impl mock:direct --batch 5,200 --set mock.memory=150000 >"$tmp/log" 2>"$tmp/err" ||
    fail "the smaller batch did not run: $(cat "$tmp/err")"
grep -q 'batch 200.*bytes.*needed.*only 150000' "$tmp/err" || fail "the larger batch is not named: $(cat "$tmp/err")"

"$benchcnn" train "${common[@]}" --impl mock --set mock.refuse=1 >"$tmp/log" 2>"$tmp/err"
[ $? -eq 1 ] || fail "a capture that fails is no failure"
grep -q -- '--no-graph' "$tmp/err" || fail "a failed capture gives no advice: $(cat "$tmp/err")"
"$benchcnn" train "${common[@]}" --impl mock --data-on moon >"$tmp/log" 2>"$tmp/err"
[ $? -eq 2 ] || fail "--data-on moon is not refused"
grep -q "'moon'.*device, host" "$tmp/err" || fail "--data-on moon is not explained: $(cat "$tmp/err")"
# A goal: reached, or missed after the epochs that were asked for, which is a failure.
goal=(train --net thesis --impl cpu --batch 10 --images 20,10 --data synthetic --quiet --epochs 1)
"$benchcnn" "${goal[@]}" --until-loss 100 >"$tmp/out" 2>&1 || fail "a loss that was reached is a failure: $(cat "$tmp/out")"
"$benchcnn" "${goal[@]}" --until-loss 1e-9 >"$tmp/out" 2>&1
[ $? -eq 1 ] && grep -q 'is not below 1e-09 after 1 epoch,' "$tmp/out" || fail "a loss that was missed: $(cat "$tmp/out")"
for loss in 100 1e-9; do
    "$benchcnn" "${goal[@]}" --until-loss $loss --json >"$tmp/goal.jsonl" 2>"$tmp/err"
    grep -q "is.* below .* after 1 epoch," "$tmp/err" || fail "--json hides the outcome: $(cat "$tmp/err")"
    cat "$tmp/goal.jsonl" >>"$tmp/goals.jsonl"
done
grep '"kind":"epoch"' "$tmp/goals.jsonl" | grep -o '"until_loss":.*"reached":[a-z]*' | paste -sd' ' >"$tmp/out"
grep -q '^"until_loss":100,"reached":true "until_loss":1e-09,"reached":false$' "$tmp/out" || fail "no record of the goal: $(cat "$tmp/out")"
"$benchcnn" table "$tmp/goals.jsonl" >"$tmp/out" 2>&1 && grep -q ' goal .*reached' "$tmp/out" || fail "the goal is in no table: $(cat "$tmp/out")"

# Several goals are one training and a record each; a point whose goals are known is not run again, unless more epochs may reach one.
goals=("${goal[@]:0:${#goal[@]}-1}" 3 --batch 5,10 --out "$tmp/known.jsonl" --until-loss)
"$benchcnn" "${goals[@]}" 1e-9,100,50 >"$tmp/out" 2>&1 || fail "goals, of which one is reached: $(cat "$tmp/out")"
grep '"kind":"goal"' "$tmp/known.jsonl" | grep -o '"batch":[0-9]*\|"goal":.*"epochs":[0-9]*' | paste - - >"$tmp/goals"
printf '"batch":%d\t"goal":%s,"outcome":"%s","epochs":%d\n' 5 100 reached 1 5 50 reached 1 5 1e-09 'not reached' 3 \
    10 100 reached 1 10 50 reached 1 10 1e-09 'not reached' 3 | diff - "$tmp/goals" >"$tmp/err" || fail "other goals: $(cat "$tmp/err")"
"$benchcnn" "${goals[@]}" 50,1e-9 >"$tmp/out" 2>&1 || fail "goals that are known: $(cat "$tmp/out")"
[ "$(grep -c 'epochs\?, .* (already in ' "$tmp/out")" -eq 4 ] || fail "known goals are not said: $(cat "$tmp/out")"
[ "$(grep -c '"kind":"epoch"' "$tmp/known.jsonl")" -eq 6 ] || fail "known goals are trained for again"
"$benchcnn" "${goals[@]}" 1e-9 >"$tmp/out" 2>&1
[ $? -eq 1 ] || fail "a goal that is known to be missed is no failure"
"$benchcnn" "${goals[@]}" 50,1e-9 --epochs 4 >"$tmp/out" 2>&1
[ "$(grep -c '"kind":"epoch"' "$tmp/known.jsonl")" -eq 14 ] || fail "more epochs are not trained: $(cat "$tmp/out")"
"$benchcnn" table --kind goals "$tmp/known.jsonl" >"$tmp/out" 2>&1 && grep -q ' goal .*outcome .*epochs ' "$tmp/out" && grep -q ' not reached ' "$tmp/out" ||
    fail "no table of goals: $(cat "$tmp/out")"
if command -v gnuplot >/dev/null; then
    "$benchcnn" plot goals "$tmp/known.jsonl" --out "$tmp/goals" >"$tmp/out" 2>&1 && [ -s "$tmp/goals.svg" ] || fail "plot goals: $(cat "$tmp/out")"
    grep -q 'not in 4' "$tmp/out" && grep -q '^ *5 .* 1 .* 1 ' "$tmp/out" || fail "goals over batch sizes: $(cat "$tmp/out")"
fi
"$benchcnn" "${goals[@]}" 1,,2 >"$tmp/out" 2>&1
[ $? -eq 2 ] && grep -q "until-loss: ',2' is no number" "$tmp/out" || fail "a list with a hole: $(cat "$tmp/out")"

# An accuracy, a share, as a goal: met where it is equal; several, the least first; beside other goals in the same file, each
# its own; means over seeds that reached one, with their interval.
right=(train "${common[@]}" --impl cpu --batch 20 --epochs 3 --out "$tmp/right.jsonl")
"$benchcnn" "${right[@]}" >"$tmp/out" 2>&1 || fail "epochs: $(cat "$tmp/out")"
first=$(grep '"kind":"epoch"' "$tmp/right.jsonl" | head -1 | sed 's/.*"test_accuracy":\([0-9.]*\).*/\1/')
"$benchcnn" "${right[@]}" --until-accuracy "1,$first,0" >"$tmp/out" 2>&1 || fail "an accuracy that was reached is a failure: $(cat "$tmp/out")"
grep '"kind":"goal"' "$tmp/right.jsonl" | grep -o '"goal_of":.*"epochs":[0-9]*' >"$tmp/goals"
printf '"goal_of":"accuracy","goal":%s,"outcome":"%s","epochs":%d\n' 0 reached 1 "$first" reached 1 1 'not reached' 3 |
    diff - "$tmp/goals" >"$tmp/err" || fail "other goals of accuracy: $(cat "$tmp/err")"
grep -q '^test accuracy is at least 0 % after 1 epoch, ' "$tmp/out" && grep -q '^test accuracy is not at least 100 % after 3 epochs, ' "$tmp/out" ||
    fail "goals of accuracy are not said: $(cat "$tmp/out")"
grep '"kind":"epoch"' "$tmp/right.jsonl" | tail -1 | grep -q '"epochs":0,.*"until_accuracy":1,"reached":false' || fail "an epoch's goal: $(tail -1 "$tmp/right.jsonl")"
"$benchcnn" "${right[@]}" --until-loss 1 >"$tmp/out" 2>&1
[ $? -le 1 ] && grep -q 'already in' "$tmp/out" && fail "a loss of 1 is taken for an accuracy of 1"
"$benchcnn" "${right[@]}" --until-accuracy 1 >"$tmp/out" 2>&1
[ $? -eq 1 ] && grep -q 'accuracy is not at least 100 % .*already in' "$tmp/out" || fail "an accuracy that is known to be missed: $(cat "$tmp/out")"
for seed in 2 3; do "$benchcnn" "${right[@]}" --until-accuracy 0,1 --seed $seed >"$tmp/out" 2>&1; done
"$benchcnn" table --kind goals "$tmp/right.jsonl" >"$tmp/out" 2>&1 && grep -q ' of .*goal ' "$tmp/out" && grep -q ' accuracy ' "$tmp/out" || fail "the table of goals: $(cat "$tmp/out")"
if command -v gnuplot >/dev/null; then
    "$benchcnn" plot goals "$tmp/right.jsonl" --out "$tmp/right" >"$tmp/out" 2>&1 && [ -s "$tmp/right.svg" ] || fail "plot goals: $(cat "$tmp/out")"
    grep -qE '^ +20 +0 % +3 of 3  1 \(1 to 1\) +[-0-9.e]+ \([-0-9.e]+ to [-0-9.e]+\) ' "$tmp/out" && grep -qE '^ +20 +100 % +0 of 3  - ' "$tmp/out" || fail "means over seeds: $(cat "$tmp/out")"
    grep -q 'published' "$tmp/out" && fail "a published loss beside accuracies"
    "$benchcnn" "${right[@]}" --until-accuracy 0 --dtype f64 >"$tmp/out" 2>&1
    "$benchcnn" plot goals "$tmp/right.jsonl" --out "$tmp/right" >"$tmp/out" 2>&1
    grep -qE '^ +f32 +.*f64$' "$tmp/out" && grep -q ' of 3 .*, f32$' "$tmp/out" || fail "curves of two types look alike: $(cat "$tmp/out")"
fi
for accuracy in 99 -1 nan; do
    "$benchcnn" "${right[@]}" --until-accuracy $accuracy >"$tmp/out" 2>&1
    [ $? -eq 2 ] && grep -q 'until-accuracy is .* from 0 to 1: 0.99 is 99 %' "$tmp/out" || fail "--until-accuracy $accuracy: $(cat "$tmp/out")"
done
"$benchcnn" "${right[@]}" --until-accuracy 1 --until-loss 1 >"$tmp/out" 2>&1
[ $? -eq 2 ] && grep -q 'until-loss.*until-accuracy' "$tmp/out" || fail "goals of both kinds: $(cat "$tmp/out")"

echo "train: all held"
