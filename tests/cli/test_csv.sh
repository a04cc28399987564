#!/usr/bin/env bash
# test_csv.sh BENCHCNN: --data FILE.csv: the same images as IDX files and as CSV give the same training, whichever columns
# hold the target; and what becomes of pixels (--preprocess).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
printf 'input 1 6 7\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/small.net"
common=(--net "$tmp/small.net" --impl cpu --batch 10 --optimizer sgd,lr=0.1 --dtype f64 --threads 1 --quiet)

# ---- 60 and 20 images: pixels are bytes of the program. idx NAME FIRST COUNT writes an IDX pair, row FIRST COUNT prints them.
size=42
number() { printf "\\x$(printf %02x $(($1 >> 8)))\\x$(printf %02x $(($1 & 255)))"; }
pixels() { tail -c +4097 "$benchcnn" | head -c $((80 * size)) | tail -c +$(($1 * size + 1)) | head -c $(($2 * size)); }
labels() { for i in $(seq "$1" $(($1 + $2 - 1))); do echo $((i * 7 % 10)); done; }
idx() {
    { printf '\0\0\x08\x03\0\0'; number "$3"; printf '\0\0\0\x06\0\0\0\x07'; pixels "$2" "$3"; } >"$tmp/idx/$1-images-idx3-ubyte"
    { printf '\0\0\x08\x01\0\0'; number "$3"; for l in $(labels "$2" "$3"); do printf "\\x0$l"; done; } >"$tmp/idx/$1-labels-idx1-ubyte"
}
rows() { pixels "$1" "$2" | od -An -v -tu1 -w$size | sed 's/^ *//; s/  */,/g'; }
mkdir "$tmp/idx"
idx train 0 60
idx t10k 60 20
for part in "train 0 60" "test 60 20"; do
    read -r name first count <<<"$part"
    paste -d, <(labels "$first" "$count") <(rows "$first" "$count") >"$tmp/$name.csv"
    paste -d, <(rows "$first" "$count") <(labels "$first" "$count") >"$tmp/behind_$name.csv"
    labels "$first" "$count" | awk -v OFS=, '{for (c = 0; c < 10; c++) $(c + 2) = c == $1; $1 = ""; print substr($0, 2)}' >"$tmp/hot"
    paste -d, <(rows "$first" "$count" | cut -d, -f1-5) "$tmp/hot" <(rows "$first" "$count" | cut -d, -f6-) >"$tmp/hot_$name.csv"
done
{ echo "label,pixel0,pixel1"; cat "$tmp/train.csv"; } | sed 's/$/\r/' >"$tmp/heading.csv"
cat "$tmp"/{train,test}.csv | head -70 >"$tmp/all.csv"

losses() { # losses OPTIONS...: training and test losses of two epochs
    rm -f "$tmp/l.jsonl"
    tests=$((tests + 1))
    "$benchcnn" train "${common[@]}" --epochs 2 --out "$tmp/l.jsonl" "$@" >"$tmp/out" 2>"$tmp/err" || fail "$*: $(cat "$tmp/err")"
    grep '"kind":"epoch"' "$tmp/l.jsonl" | grep -o '"\(train\|test\)_loss":[^,]*' | paste -sd' '
}
plain=$(losses --data "$tmp/idx")
same() { # same WHAT OPTIONS...
    local what=$1 got
    shift
    got=$(losses "$@")
    [ -n "$plain" ] && [ "$got" = "$plain" ] || fail "$what: $got, but IDX files give $plain"
}
same "CSV" --data "$tmp/train.csv,$tmp/test.csv"
same "a heading and CRLF" --data "$tmp/heading.csv,$tmp/test.csv"
same "the target behind" --data "$tmp/behind_train.csv,$tmp/behind_test.csv" --targets 42
same "a column for each class" --data "$tmp/hot_train.csv,$tmp/hot_test.csv" --targets 5..14
one=$(losses --data "$tmp/all.csv")
[ "$one" = "$(losses --data "$tmp/idx" --images 60,10)" ] || fail "the last seventh is not the test's: $one"
"$benchcnn" data --data "$tmp/train.csv,$tmp/test.csv" >"$tmp/out" 2>&1 || fail "data: $(cat "$tmp/out")"
holds "data" "$tmp/out" '1 x 1 x 42 pixels|training     60 images|test         20 images'

# ---- Preprocessing: other numbers, other losses; the weights' file says how, and eval does the same.
for how in none proportional; do
    got=$(losses --data "$tmp/idx" --preprocess $how --save "$tmp/$how.w")
    [ "$got" != "$plain" ] || fail "--preprocess $how makes no difference"
    grep -q "\"preprocess\":\"$how\".*\"verified\":true" "$tmp/l.jsonl" || fail "$how: $(tail -1 "$tmp/l.jsonl")"
    "$benchcnn" eval --net "$tmp/small.net" --load "$tmp/$how.w" --impl cpu --data "$tmp/idx" --dtype f64 --quiet --json >"$tmp/out" 2>"$tmp/err" || fail "eval: $(cat "$tmp/err")"
    awk -v a="$(grep -o '"kind":"eval".*' "$tmp/out" | grep -o '"loss":[^,]*' | head -1 | cut -d: -f2)" -v b="$(echo "$got" | grep -o '[^:]*$')" \
        'BEGIN {exit !(a > 0 && (a - b) ^ 2 < 1e-14)}' || fail "$how: eval says $(grep -o '"loss":[^,]*' "$tmp/out" | head -1), training $got"
done
# A picture whose largest pixel is 51 counts five times as much as by 255; one of nothing stays nothing.
{ echo "3,$(seq -s, 10 51)"; echo "4,$(yes 0 | head -42 | paste -sd,)"; } >"$tmp/dark.csv"
dark=$(losses --data "$tmp/dark.csv,$tmp/dark.csv" --preprocess proportional --batch 2)
{ echo "3,$(seq -s, 50 5 255)"; echo "4,$(yes 0 | head -42 | paste -sd,)"; } >"$tmp/light.csv"
[ "$dark" = "$(losses --data "$tmp/light.csv,$tmp/light.csv" --preprocess none --batch 2)" ] || fail "proportional is not by the largest pixel"

# ---- What is no such file.
bad() { # bad WORDS LINE [OPTIONS...]
    local words=$1
    printf '%b\n' "$2" >"$tmp/bad.csv"
    shift 2
    refused "$words" train "${common[@]}" --data "$tmp/bad.csv,$tmp/test.csv" "$@"
}
good=$(head -1 "$tmp/train.csv")
bad 'bad.csv:2: 43 columns|43 columns: expected 44' "x\n$good" --targets 0..1
bad 'bad.csv:1: 2 columns: expected 43' '1,2'
bad "bad.csv:2: column 3 is '256'" "$good\n1,2,256,$(echo "$good" | cut -d, -f4-)"
bad "column 2 is 'x'" "1,x,$(echo "$good" | cut -d, -f3-)"
bad "column 2 is '1.5'" "1,1.5,$(echo "$good" | cut -d, -f3-)"
bad 'the target is 10: expected a class from 0 to 9' "10,$(echo "$good" | cut -d, -f2-)"
bad 'holds no image' 'label,pixels'
echo "$good" | sed 's/,/,@/' | tr @ '\000' >"$tmp/nul.csv"
refused 'is not text' train "${common[@]}" --data "$tmp/nul.csv,$tmp/test.csv"
bad 'not one is 1 and the others 0' "1,1,$(rows 0 1)" --targets 0..1
bad '1 to 10 columns can be a target' "$good" --targets 0..10
refused 'missing.csv: cannot be opened' train "${common[@]}" --data "$tmp/missing.csv"
refused 'too few images to test on some' train "${common[@]}" --data "$tmp/dark.csv"
refused '--targets goes with --data FILE.csv' train "${common[@]}" --data synthetic --targets 1
refused '61 training images asked for' train "${common[@]}" --data "$tmp/train.csv,$tmp/test.csv" --images 61
finish
