#!/usr/bin/env bash
# test_eval.sh BENCHCNN: eval and predict say of saved weights what the training said of them, image by image.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
printf 'input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nleaky_relu 0.01\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/small.net"
sed 's/softmax_cross_entropy/quadratic/' "$tmp/small.net" >"$tmp/square.net"
set8() { "$benchcnn" "$1" --net "$tmp/small.net" --load "$tmp/w" --data synthetic --threads 1 --quiet "${@:2}"; }
asked() { tests=$((tests + 1)); set8 "$@" >"$tmp/out" 2>"$tmp/err" || fail "$*: $(cat "$tmp/err")"; }
field() { grep "\"kind\":\"$2\"" "$1" | tail -1 | grep -o "\"$3\":[^,}]*" | cut -d: -f2; }
close() { awk -v a="$1" -v b="$2" 'BEGIN {exit !(a > 0 && (a - b) ^ 2 < (1e-5 * a) ^ 2)}'; }

sed 's/leaky_relu 0.01/relu/' "$tmp/small.net" >"$tmp/relu.net"

for net in small square relu; do
    "$benchcnn" train --net "$tmp/$net.net" --data synthetic --images 2000,0 --threads 1 --quiet --impl cpu:direct --batch 20 --epochs 2 \
        --save "$tmp/$net.w" --out "$tmp/$net.jsonl" >"$tmp/log" 2>&1 || fail "training $net: $(cat "$tmp/log")"
done
cp "$tmp/small.w" "$tmp/w"

# ---- eval: the last epoch's figures, by whatever is asked.
for how in "--impl cpu:direct" "--impl cpu:fused" "--impl cpu:im2col --layout nhwc" "--impl cpu:naive --dtype f64"; do
    # shellcheck disable=SC2086  # options
    asked eval $how --json
    mv "$tmp/out" "$tmp/eval.jsonl"
    close "$(field "$tmp/small.jsonl" epoch test_loss)" "$(field "$tmp/eval.jsonl" eval loss)" || fail "$how: the loss is $(field "$tmp/eval.jsonl" eval loss)"
    close "$(field "$tmp/small.jsonl" epoch test_accuracy)" "$(field "$tmp/eval.jsonl" eval accuracy)" || fail "$how: the accuracy is $(field "$tmp/eval.jsonl" eval accuracy)"
done
asked eval --impl cpu:direct --worst 7 --out "$tmp/eval.jsonl"
mv "$tmp/out" "$tmp/eval.txt"
correct=$(field "$tmp/eval.jsonl" eval correct) incorrect=$(field "$tmp/eval.jsonl" eval incorrect)
[ $((correct + incorrect)) -eq 10000 ] && [ "$incorrect" -gt 100 ] || fail "$correct correct, $incorrect incorrect of 10000"
holds eval "$tmp/eval.txt" "10000 images: $correct correct, $incorrect incorrect, accuracy|the 7 with the largest loss|weights $tmp/w ("
grep '"kind":"eval"' "$tmp/eval.jsonl" | tail -1 | grep -o '"confusion":\[[^]]*' | cut -d[ -f2 | tr , '\n' >"$tmp/confusion"
awk -v correct="$correct" '{all += $1} (NR - 1) % 11 == 0 {right += $1} END {exit !(NR == 100 && all == 10000 && right == correct)}' "$tmp/confusion" ||
    fail "the confusion matrix does not sum up: $(paste -sd' ' "$tmp/confusion")"
sed -n '/^  target /,/^$/p' "$tmp/eval.txt" | awk 'NR > 1 && NF == 11 {for (i = 2; i <= 11; i++) print $i}' | diff - "$tmp/confusion" >"$tmp/err" ||
    fail "the matrix that is shown is not the record's: $(head "$tmp/err")"
grep '"kind":"answer"' "$tmp/eval.jsonl" | tail -7 | grep -o '"index":[0-9]*\|"loss":[^,}]*' | cut -d: -f2 | paste - - >"$tmp/worst"
awk 'NR > 1 && $2 > above {bad = 1} {above = $2} END {exit bad || NR != 7}' "$tmp/worst" || fail "not the worst first: $(cat "$tmp/worst")"

# ---- predict: the same answers, one by one, and all of them are images of the test.
asked predict --impl cpu:fused --images 0..9999 --json
grep '"kind":"answer"' "$tmp/out" >"$tmp/answers"
[ "$(wc -l <"$tmp/answers")" -eq 10000 ] || fail "not an answer to each image"
[ "$(grep -c '"correct":true' "$tmp/answers")" -eq "$correct" ] || fail "predict has other answers than eval"
grep -o '"target":[0-9],"answer":[0-9]' "$tmp/answers" | tr -dc '0-9\n' | awk '{n[$1 + 0]++} END {for (i = 0; i < 100; i++) print n[i] + 0}' | diff - "$tmp/confusion" >"$tmp/err" ||
    fail "predict's confusion is another: $(head "$tmp/err")"
sort -t: -k1 "$tmp/answers" | grep -o '"index":[0-9]*,\|"loss":[^,}]*' | tr -d , | cut -d: -f2 | paste - - | sort -k2,2gr | head -7 | cut -f1 | diff - <(cut -f1 "$tmp/worst") >"$tmp/err" ||
    fail "the worst of all answers are others: $(cat "$tmp/err")"
awk -F'"probability":' '{split($2, a, ","); if (!(a[1] > 0.099 && a[1] <= 1)) bad = 1} END {exit bad}' "$tmp/answers" || fail "a probability of an answer below 1 in 10, or above 1"
wrong=$(grep -m1 '"correct":false' "$tmp/answers" | grep -o '"index":[0-9]*' | cut -d: -f2)
asked predict --impl cpu:direct --images "3,$wrong,5..6"
grep -o 'image [0-9]*$' "$tmp/out" | paste -sd' ' | grep -qx "image 3 image $wrong image 5 image 6" || fail "not these images: $(cat "$tmp/out")"
[ "$(grep -c ', wrong$' "$tmp/out")" -ge 1 ] || fail "a wrong answer is not marked"
[ "$(grep -c '^ *[ .:+*#%@=-]\{8\}' "$tmp/out")" -ge 16 ] && grep -q '[*#%@]' "$tmp/out" || fail "no digits are drawn: $(cat "$tmp/out")"
asked predict --impl cpu:direct
holds predict "$tmp/out" "of 10 images correct|target|answer|probability|loss"

# ---- Of three channels each one's mean is in the file, and is what eval takes off.
tests=$((tests + 1))
printf 'input 3 8 8\nconv 4 kernel=3 stride=2 pad=1\nrelu\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/colour.net"
"$benchcnn" train --net "$tmp/colour.net" --data synthetic --images 300,200 --threads 1 --quiet --impl cpu:direct --batch 20 --epochs 1 \
    --save "$tmp/colour.w" --out "$tmp/colour.jsonl" >"$tmp/log" 2>&1 || fail "training colour: $(cat "$tmp/log")"
LC_ALL=C grep -aq '"mean":"0\.[0-9]*,0\.[0-9]*,0\.[0-9]*"' "$tmp/colour.w" || fail "no means of three channels: $(head -c 300 "$tmp/colour.w")"
colour() { "$benchcnn" eval --net "$tmp/colour.net" --load "$1" --data synthetic --images 0..199 --threads 1 --quiet --impl cpu:direct --json; }
colour "$tmp/colour.w" >"$tmp/colour.eval" 2>"$tmp/err" || fail "eval of three channels: $(cat "$tmp/err")"
close "$(field "$tmp/colour.jsonl" epoch test_loss)" "$(field "$tmp/colour.eval" eval loss)" || fail "three channels: the loss is $(field "$tmp/colour.eval" eval loss)"
for wrong in 's/\("mean":"0\.[0-9]*\),/\1;/' 's/\("mean":"\)0\./\1x./' 's/\(0\.[0-9]*,0\.[0-9]*\),0/\1,,/' 's/\("mean":"0\.[0-9]*,0\.[0-9]*\),0/\1e0/'; do
    LC_ALL=C sed "$wrong" "$tmp/colour.w" >"$tmp/wrong.w"
    cmp -s "$tmp/colour.w" "$tmp/wrong.w" && fail "$wrong changes nothing"
    colour "$tmp/wrong.w" >/dev/null 2>"$tmp/err" && fail "$wrong: accepted"
    holds "$wrong" "$tmp/err" "wrong.w: its metadata \`mean\` is|3 channels"
done

# ---- The other loss has no probabilities; its answers are the training's.
tests=$((tests + 1))
"$benchcnn" eval --net "$tmp/square.net" --load "$tmp/square.w" --data synthetic --impl cpu:direct --quiet --json >"$tmp/out" 2>"$tmp/err" || fail "quadratic: $(cat "$tmp/err")"
close "$(field "$tmp/square.jsonl" epoch test_accuracy)" "$(field "$tmp/out" eval accuracy)" || fail "quadratic: accuracy $(field "$tmp/out" eval accuracy)"
grep '"kind":"answer"' "$tmp/out" | grep -v '"probability":null' && fail "quadratic: a probability"

# ---- Weights whose logits are no numbers: no answer is right, and that is no crash.
if command -v python3 >/dev/null; then
    tests=$((tests + 1))
    python3 - "$tmp/w" "$tmp/wild" <<'END'
import json, struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
length = struct.unpack("<Q", data[:8])[0]
for name, tensor in json.loads(data[8:8 + length]).items():
    if name.endswith("weight"):
        begin, end = (8 + length + at for at in tensor["data_offsets"])
        data[begin:end] = struct.pack("<f", 3e38) * ((end - begin) // 4)
open(sys.argv[2], "wb").write(data)
END
    "$benchcnn" eval --net "$tmp/small.net" --load "$tmp/wild" --data synthetic --impl cpu:direct --images 0..49 --worst 2 --quiet >"$tmp/out" 2>"$tmp/err" || fail "wild: $(cat "$tmp/err")"
    holds "wild weights" "$tmp/out" '50 images: 0 correct, 50 incorrect|      -'
fi

# ---- A plug-in that ends the process is a failure, never an answer; with --isolate it is said in what.
plugin=$(dirname "$benchcnn")/cheats/exits_after_some_calls.so
if [ -e "$plugin" ]; then # not under the thread sanitizer
    for isolate in '' --isolate; do
        tests=$((tests + 1))
        # shellcheck disable=SC2086  # an option or none
        set8 predict --plugin "$plugin" --impl exits_after_some_calls --images 0..99 $isolate --net "$tmp/relu.net" --load "$tmp/relu.w" >"$tmp/out" 2>"$tmp/err"
        [ $? -eq 1 ] || fail "a plug-in that ends the process: $(cat "$tmp/out" "$tmp/err")"
        cat "$tmp/err" >>"$tmp/out"
        holds "a plug-in that ends the process" "$tmp/out" "${isolate:+FAILED      exits_after_some_calls:loops | asking it about images: }it ended its process itself, with status 0"
    done
fi

# ---- Refused.
on=(--net "$tmp/small.net" --load "$tmp/w" --impl cpu:direct --data synthetic)
refused 'eval needs a network' eval --load "$tmp/w" --impl cpu
refused 'predict needs weights|train --save' predict --net thesis --impl cpu
refused 'eval needs an implementation' eval --net thesis --load "$tmp/w"
refused "conv1.weight has the shape (4, 1, 3, 3), but that of network thesis" eval --net thesis --load "$tmp/w" --impl cpu
for images in 5..3 -1 1,,2 x 3.. ..3 1..2..3 1.5 99999999999999999999; do refused '--images: ' predict "${on[@]}" --images="$images"; done
refused "'9999..10000' goes beyond the 10000 test images" predict "${on[@]}" --images 9999..10000
refused 'asks one implementation' eval "${on[@]}" --impl cpu:direct,cpu:naive
refused 'in one type' eval "${on[@]}" --dtype f32,f64
"$benchcnn" data make --out "$tmp/idx" >/dev/null
refused 'takes images of 1 x 8 x 8, but those of' eval "${on[@]}" --data "$tmp/idx"
refused 'they are one file' eval "${on[@]}" --out "$tmp/w"
finish
