#!/usr/bin/env bash
# test_bad_input.sh BENCHCNN: every bad input gets exit status 2 and one sentence that holds the offending value.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"

# Usage
refused "unknown command|did you mean 'verify'" verfy
refused "unknown option --thread|--threads" verify --thread 2
refused "takes no --epochs" bench --epochs 2
refused "unknown cache 'warm'|network" bench --cache warm
refused "--cache network|--net" bench --cache network
refused "cannot" bench --problem ic3ih5oc4kh3 --peaks /nonexistent/peaks
refused "no ceilings|peaks --out" bench --problem ic3ih5oc4kh3 --peaks /dev/null
refused "--threads is 0|from 1" verify --threads 0
refused "--seed is 9007199254740993|to 9007199254740992" train --seed 9007199254740993 # a record would read back another
refused "--threads needs a whole number|two" verify --threads two
refused "--impl needs a value" verify --impl
refused "unknown implementation 'cqu'|'cpu'" verify --impl cqu
refused "unknown algorithm of cpu 'dirct'|'direct'" verify --impl cpu:dirct
refused "unknown operation 'cnv'|'conv'" verify --op cnv
refused "unknown direction 'FWT'|'FWD'" verify --dir FWT
refused "unknown dtype 'f23'|'f32'" verify --dtype f23
refused "unknown layout 'nchv'|'nchw'" bench --layout nchv
refused "must be from 0 to 2" verify --set cpu.isa=7
refused "did you mean 'isa'" verify --set cpu.iso=1
refused "'cpu.isa=1'" verify --set isa=1
refused "no implementation 'c*' has" verify --set 'c*.iso=1'
refused "cpu.isa is 7" verify --set '*.isa=7'

refused "takes no 'foo'" bench foo
refused "takes no 'foo'" train foo
refused "takes no 'foo'" list foo
refused "takes no 'foo'" sweep batch foo
refused "--min-time is 5|--max-time" bench --min-time 5 --max-time 1

# Files that are not to be overwritten, shares that are none
refused "--threshold is '5'|5%|0.05" compare "$tmp/a" "$tmp/b" --threshold 5
refused "--threshold is '1'|1%|0.01" compare "$tmp/a" "$tmp/b" --threshold 1
refused "--threshold is '-3%'" compare "$tmp/a" "$tmp/b" --threshold -3%
cp bench/nets/thesis.net "$tmp/mine.net"
for command in 'verify --impl cpu' 'verify --impl cpu --fuzz 5' 'bench --impl cpu' 'peaks' 'sweep threads --impl cpu' \
    'sweep batch --impl cpu --data synthetic' 'train --net thesis --impl cpu --data synthetic' 'run nothing.recipe' "compare $tmp/a $tmp/b"; do
    echo 'verify --impl cpu' >"$tmp/nothing.recipe"
    echo '{"kind":"conv","median_s":1}' | tee "$tmp/a" >"$tmp/b"
    # shellcheck disable=SC2086  # several words on purpose
    refused "mine.net is no file of records" ${command/nothing/$tmp/nothing} --quiet --out "$tmp/mine.net"
    [ -s "$tmp/out" ] && fail "$command ran before it looked at --out: $(head -3 "$tmp/out")"
done
cmp -s bench/nets/thesis.net "$tmp/mine.net" || fail 'a .net file is appended to'
ln -s b "$tmp/link"
: >"$tmp/void"
refused "$tmp/void holds no records" compare "$tmp/void" "$tmp/b"
refused "README.md holds no records" compare "$tmp/b" README.md
grep -q 'differ\|only in' "$tmp/err" && fail 'what is no file of records is compared'
printf '{"kind":"conv","impl":"%s","median_s":%s}\n' a 1 b 1e999 c -1 d 0 e null >"$tmp/odd"
"$benchcnn" compare "$tmp/odd" "$tmp/./odd" >"$tmp/out" 2>"$tmp/err"
grep -q '^1 compared' "$tmp/out" && grep -q 'odd: 3 time(s) are none' "$tmp/err" && grep -q 'compared with itself' "$tmp/err" ||
    fail "compare takes impossible times, or itself, silently: $(cat "$tmp/out" "$tmp/err")"
echo '{"kind":"env","cpu":"x","cores":2}' | cat - "$tmp/a" >"$tmp/known"
"$benchcnn" compare "$tmp/known" "$tmp/b" >/dev/null 2>"$tmp/err"
[ "$(grep -c 'environments differ' "$tmp/err")" = 1 ] || fail 'an unknown environment is not one line'
refused "--out $tmp/link|B $tmp/b|one file" compare "$tmp/a" "$tmp/b" --out "$tmp/link"

# Options without what they belong to, and options that contradict each other
refused "--jobs goes with --fuzz" verify --impl cpu --jobs 3
refused "--isolate-limit goes with --isolate" verify --impl cpu --isolate-limit 3
refused "--samples goes with --out" bench --impl cpu --samples
refused "--samples goes with --out" train --net thesis --impl cpu --samples
refused "--mb does not go with --net" bench --net thesis --mb 3 --impl cpu
refused "--mb is 0" verify --mb 0
refused "--dump does not go with --fuzz" verify --dump d --fuzz 10
refused "--until-loss does not go with --plan" train --net thesis --impl cpu --plan --until-loss 1
refused "--until-loss is -1|from 0" train --net thesis --impl cpu --until-loss -1
refused "unknown option --lr" train --net thesis --impl cpu --lr 0.2
refused "there is no network 'tesis'|did you mean 'thesis'|awnn_resnet|every_layer|gorgonia|projection" train --net tesis --impl cpu
refused "there is no network 'qqqqqq'|awnn_resnet|every_layer|gorgonia|projection|thesis" train --net qqqqqq --impl cpu
refused "--images 1,2,3|TRAIN,TEST" train --net thesis --impl cpu --images 1,2,3
refused "--images is 60001|from 0" train --net thesis --impl cpu --images 0,60001
refused "--checkpoint|one training|2" train --net thesis --impl cpu --data synthetic --images 100,20 --batch 5,10 --checkpoint "$tmp/kept"
refused "sweep layout --layout nchw|nothing to sweep" sweep layout --layout nchw --impl cpu
refused "sweep dtype --dtype f64|nothing to sweep" sweep threads,dtype --dtype f64 --impl cpu
refused "--problem|--net thesis|--cache network" bench --net thesis --problem ic3ih5oc4kh3 --impl cpu
refused "--data|fetch" data fetch --data d
refused "--data|make" data make --data d --out "$tmp/made"
refused "--out|fetch" data --out "$tmp/made"

# Names that are too long are shown by their beginning.
long=$(printf 'n%.0s' $(seq 5000))
refused "--impl nnnnnnnn|more than 1023 characters" verify --impl "$long"
refused "network's name 'nnnnnnnn|more than 767 characters" train --net "$long" --impl cpu
refused "checkpoint's name 'nnnnnnnn|characters" train --net thesis --impl cpu --data synthetic --images 100 --checkpoint "$long"
refused "folder's name 'nnnnnnnn|more than 900 characters" data fetch --out "$long"
refused "folder's name is empty" data fetch --out ""
BENCHCNN_MNIST_URL=$long refused "nnnnnnnn|could not be fetched" data fetch --out "$tmp/mnist"
printf 'input 1 28 28\nconv 20 kernel=4 kernel=5\nfc 10\nsoftmax_loss\n' >"$tmp/twice.net"
refused "twice.net:2|kernel|twice" train --net "$tmp/twice.net" --impl cpu --data synthetic

# Help
refused "comes before its options" --quiet verify
for word in --version -V version; do "$benchcnn" $word | grep -q '^benchcnn [0-9.]*$' || fail "$word"; done
"$benchcnn" help >"$tmp/help" && diff "$tmp/help" <("$benchcnn" --help) || fail 'help is not --help'
for status in 0 1 2 3 130; do
    grep -q "^  $status  *[a-z]" "$tmp/help" || fail "--help says nothing of exit status $status"
done
for command in list verify compute describe bench train sweep run compare plot peaks data; do
    "$benchcnn" help $command >"$tmp/help" && diff "$tmp/help" <("$benchcnn" $command --help) && grep -q "^usage: benchcnn $command " "$tmp/help" ||
        fail "help $command"
done
helps() { "$benchcnn" "$1" --help | grep -q -e "$2" || fail "$1 --help lacks '$2'"; }
helps plot 'roofline FILE'
helps data 'fetch .*make '
helps compare 'A.jsonl B.jsonl'
helps compute '--dir L .*FWD, BWD_D or BWD_W (required)'
helps train '--impl L .*(required)'
refused "unknown command 'trian'|'train'" help trian

# Descriptors and sizes
refused "ic4ih8oc4kh3kw5|: iw is needed" verify --problem ic4ih8oc4kh3kw5
grep -q 'kw is\|and kw' "$tmp/err" && fail 'kw is asked for though it is given'
refused "sh0, but" verify --problem ic4ih8oc4kh3sh0
refused "ih is needed" verify --problem ic4oc4kh3
refused "unknown check 'foo'|known are: exact, bound|all" verify --check foo
refused "unknown check 'exect'|did you mean 'exact'" verify --check exect
refused "--batch needs a value|--impl" sweep batch --batch --impl cpu:direct
refused "no kind of plot|did you mean 'roofline'" plot rooflin
refused "column 11|'q5'" verify --problem ic3ih5oc4_q5
refused "spans 9" bench --problem ic3ih5oc4kh9
refused "64-bit" verify --problem mb2147483647ic2147483647ih3oc4kh3
refused "3-D" bench --op deconv --problem ic3_id5kd3_oc4
refused "3-D" verify --op deconv --problem ic3_id5kd3_oc4
refused "bytes|needed" verify --problem mb20000ic1000ih1000oc1000kh3
refused "bytes|needed" bench --problem mb20000ic1000ih1000oc1000kh3
refused "/nonexistent/shapes" verify --problems /nonexistent/shapes
printf 'ic3ih5oc4kh3\nic3_iw9999999999kw3_oc4\nic3ih5oc4_q5\n' >"$tmp/shapes"
refused "shapes:3|'q5'" bench --impl cpu:direct --dir FWD --max-time 0.1 --problems "$tmp/shapes"
grep -q '1 timed and verified, 0 wrong, 0 failed, 2 not supported' "$tmp/out" ||
    fail 'a bad line hides the others from bench'
refused "shapes:3|'q5'" verify --impl cpu:direct --dir FWD --problems "$tmp/shapes"
grep -q '0 FAILED 1 PASSED 1 UNSUPPORTED, 1 refused' "$tmp/out" || fail 'a bad line hides the others'
printf -- '--reset\nic3ih5oc4kh3\n--fast\n' >"$tmp/shapes"
refused "shapes:3|'--fast'" verify --impl cpu:direct --dir FWD --problems "$tmp/shapes"
printf 'ic3ih5oc4kh3n"x\nic3ih6oc4kh3\n' >"$tmp/shapes"
"$benchcnn" verify --impl cpu:direct --dir FWD --problems "$tmp/shapes" >"$tmp/out" 2>&1
grep -q '2 PASSED' "$tmp/out" || fail 'a name without its second quote hides the next line'
refused "--check|--net" verify --net thesis --check exact
refused "takes no 'foo'" verify foo
"$benchcnn" verify --op fc --impl cpu:direct >/dev/null 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'nothing ran: --impl cpu:direct has no algorithm for --op fc' "$tmp/err" ||
    fail "a run of nothing does not say why: $(cat "$tmp/err")"

for words in '--op fc --impl cpu:direct' '--op loss --dir BWD_W --impl cpu' '--dir BWD --impl cpu --dtype u8:s8:s32'; do
    # shellcheck disable=SC2086  # several words on purpose
    "$benchcnn" bench $words >/dev/null 2>"$tmp/err"
    [ $? -eq 3 ] && grep -q "nothing ran: --impl cpu.* has no algorithm for --op" "$tmp/err" && ! grep -q ceilings "$tmp/err" ||
        fail "bench $words does not say at once why it times nothing: $(cat "$tmp/err")"
done

# --mb: the batch of every problem of a file, with and without one of its own
printf 'ic3ih5oc4kh3\nmb7ic3ih6oc4kh3\n' >"$tmp/shapes"
"$benchcnn" verify --impl cpu:direct --dir FWD --mb 3 --problems "$tmp/shapes" >"$tmp/out" 2>&1
[ "$(grep -c 'PASSED.* mb3ic3' "$tmp/out")" = 2 ] || fail "verify --mb: $(cat "$tmp/out")"
"$benchcnn" bench --impl cpu:direct --dir FWD --mb 3 --problems "$tmp/shapes" --max-time 0.02 --peaks none >"$tmp/out" 2>&1
[ "$(grep -c '^conv FWD mb3ic3' "$tmp/out")" = 2 ] || fail "bench --mb: $(cat "$tmp/out")"

# Networks and training
printf 'input 1 28 28\nconv 20 kernel=4\nleaky_rely 0.01\n' >"$tmp/wrong.net"
refused "wrong.net:3|leaky_rely|leaky_relu" train --net "$tmp/wrong.net" --impl cpu --data synthetic
refused "thesis" train --net thesys --impl cpu --data synthetic
refused "--batch is 0" train --net thesis --impl cpu --batch 0 --data synthetic
refused "--batch is 60001|60000" train --net thesis --impl cpu --batch 60001 --data synthetic
refused "--batch is 0" sweep batch --batch 5,0 --impl cpu --data synthetic
refused "cpu:gemm does no conv" train --net thesis --impl cpu:gemm --data synthetic
printf 'input 1 28 28\nfc 10\nloss\n' >"$tmp/fc.net"
sed -i 's/^loss$/'"$(tail -1 bench/nets/thesis.net)"'/' "$tmp/fc.net"
refused "cpu:direct does no fc|no conv is in it|cpu:gemm|--impl cpu" train --net "$tmp/fc.net" --impl cpu:direct --data synthetic
"$benchcnn" train --net "$tmp/fc.net" --impl cpu:gemm --data synthetic --plan >"$tmp/out" 2>&1 || fail "an FC net: $(cat "$tmp/out")"
refused "cpu:gemm does no conv" sweep batch --impl cpu:gemm --data synthetic
refused "did you mean 'adam'" train --net thesis --impl cpu --optimizer adan --data synthetic
refused "/nonexistent/records.jsonl" train --net thesis --impl cpu --data synthetic --out /nonexistent/records.jsonl

# Data files
refused "/nonexistent" train --net thesis --impl cpu --data /nonexistent
"$benchcnn" data make --out "$tmp/good" --quiet >/dev/null 2>&1 || fail 'data make'
idx() { # idx FOLDER: a folder of the good files
    rm -rf "${tmp:?}/$1"
    cp -r "$tmp/good" "$tmp/$1"
}
images=$(cd "$tmp/good" && ls | grep train-images | head -1)
labels=$(cd "$tmp/good" && ls | grep train-labels | head -1)
idx truncated; truncate -s 1000 "$tmp/truncated/$images"
refused "$images|truncated" train --net thesis --impl cpu --data "$tmp/truncated"
idx magic; printf '\x01' | dd of="$tmp/magic/$images" bs=1 seek=2 conv=notrunc status=none
refused "$images|magic" train --net thesis --impl cpu --data "$tmp/magic"
idx label; printf '\x0b' | dd of="$tmp/label/$labels" bs=1 seek=13 conv=notrunc status=none
refused "$labels|11" train --net thesis --impl cpu --data "$tmp/label"
idx missing; rm "$tmp/missing/$labels"
refused "train-labels" train --net thesis --impl cpu --data "$tmp/missing"

finish
