#!/usr/bin/env bash
# test_hostile_files.sh BENCHCNN: files without an end, names with escapes and quotes, a limit on address space, a server that
# sends elsewhere, NaN and denormals that are expected: told in words, in bounded time, in what a terminal can show.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
problem=mb2ic3ih5oc4oh5kh3ph1

# expect STATUS WORDS COMMAND...: the exit status, each of WORDS (separated by '|'), and nothing that a terminal would obey.
expect() {
    local wanted=$1 words=$2 status
    shift 2
    tests=$((tests + 1))
    timeout -s KILL 60 "$@" >"$tmp/said" 2>&1 </dev/null
    status=$?
    [ $status -eq "$wanted" ] || fail "'$*' ended with $status, not $wanted: $(head -c 400 "$tmp/said")"
    [ -z "$words" ] || holds "'$*'" "$tmp/said" "$words"
    LC_ALL=C grep -q -P '[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]' "$tmp/said" && fail "'$*' writes control characters"
}

# ---- Files without an end.
mkfifo "$tmp/fifo"
mkdir "$tmp/folder" "$tmp/data"
truncate -s 20G "$tmp/sparse"
each() { # WORDS FILE
    local one=(--impl cpu:direct --op conv --problem $problem --max-time 0.01)
    expect 2 "$1" "$benchcnn" table "$2"
    expect 2 "$1" "$benchcnn" verify --impl cpu:direct --op conv --problems "$2"
    expect 2 "$1" "$benchcnn" run "$2" --out "$tmp/steps.jsonl"
    expect 2 "$1" "$benchcnn" bench "${one[@]}" --peaks "$2"
    [ "$2" = "$tmp/fifo" ] && return # each of them waits a while for a writer
    expect 2 "$1" "$benchcnn" compare "$2" "$2"
    expect 2 "$1" "$benchcnn" bench "${one[@]}" --peaks none --impl cpu:tuned --tune "$2"
}
each "it is a device" /dev/zero
each "it is a device" /dev/full
each "it is a directory" "$tmp/folder"
each "it is a FIFO that nothing writes to" "$tmp/fifo"
each "a line of more than 64 MiB" "$tmp/sparse"
expect 2 "no file of records" "$benchcnn" bench --impl cpu:direct --op conv --problem $problem --max-time 0.01 --peaks none --out "$tmp/sparse"
expect 2 "it is a device" "$benchcnn" compute --impl cpu --dir FWD --problem $problem --in x=/dev/zero --in w=/dev/zero --out "$tmp/y.npy"
expect 2 "it is a device" "$benchcnn" train --net thesis --impl cpu --data synthetic --batch 100 --epochs 1 --images 100,100 \
    --checkpoint /dev/zero
for file in /dev/zero /dev/full; do expect 2 "it is a device" "$benchcnn" eval --net thesis --impl cpu --load $file; done
expect 2 "it is a FIFO that nothing writes to" "$benchcnn" train --net thesis --impl cpu --data synthetic --images 100,100 --load "$tmp/fifo"
expect 2 "not a safetensors file" "$benchcnn" predict --net thesis --impl cpu --load "$tmp/sparse"
ln -s /dev/zero "$tmp/data/train-images-idx3-ubyte"
expect 2 "it is a device" "$benchcnn" data --data "$tmp/data"
(sleep 1 && echo '{"kind":"env"}' >"$tmp/fifo") & # one that comes a little later is waited for
expect 2 "fifo holds no record" "$benchcnn" table "$tmp/fifo"
wait
expect 3 "hold no descriptor" "$benchcnn" verify --impl cpu:direct --op conv --problems /dev/null

# ---- Names with escapes and quotes: in a problem file, a network, a recipe, records, and from there in plots.
esc=$'\033[2J' quotes=$'it\'s "q" `id` @x {_a} \\n'
printf '%s' "${problem}n\"wipe$esc\" mb$esc $problem" >"$tmp/problems"
expect 2 'n"wipe\x1b[2J"|mb\x1b[2J' "$benchcnn" verify --impl cpu:direct --op conv --dir FWD --problems "$tmp/problems"
expect 2 'mb\x1b[2J' "$benchcnn" bench --impl cpu:direct --op conv --dir FWD --problems "$tmp/problems" --max-time 0.01 --peaks none
printf 'input 1 8 8\nfc 10 x%s\nsoftmax_cross_entropy\n' "$esc" >"$tmp/odd.net"
expect 2 'odd.net:2|x\x1b[2J' "$benchcnn" train --net "$tmp/odd.net" --impl cpu --plan
header='{"\u001b[2J":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
printf "\\x$(printf %x ${#header})\\0\\0\\0\\0\\0\\0\\0%sABCD" "$header" >"$tmp/odd.safetensors"
expect 2 "has no tensor 'conv1.weight'|\\x1b[2J" "$benchcnn" eval --net thesis --impl cpu --load "$tmp/odd.safetensors"
printf 'list --quiet %s\n' "$esc" >"$tmp/recipe"
expect 2 '\x1b[2J' "$benchcnn" run "$tmp/recipe" --out "$tmp/steps.jsonl"
expect 2 "\\x1b" "$benchcnn" list "$esc"
expect 0 'n"wipe\x1b[2J"' "$benchcnn" bench --impl cpu:direct,cpu:im2col --op conv --dir FWD --problem "${problem}n\"wipe$esc\"" \
    --max-time 0.01 --peaks none --out "$tmp/figures.jsonl" # the name is kept as it is shown
expect 0 'wipe\x1b[2J' "$benchcnn" table "$tmp/figures.jsonl"
sed -e 's/wipe\\\\x1b\[2J/\\u001b[2Jx\\n69 cases\\u009b/' "$tmp/figures.jsonl" >"$tmp/forged.jsonl"
for format in text markdown csv; do
    expect 0 '\x1b[2Jx\x0a69 cases' "$benchcnn" table "$tmp/forged.jsonl" --format $format
done
expect 3 'only in' "$benchcnn" compare "$tmp/figures.jsonl" "$tmp/forged.jsonl"
if command -v gnuplot >/dev/null; then
    expect 0 '' "$benchcnn" bench --impl cpu:direct,cpu:im2col --op conv --dir FWD --problem "${problem}n\"$quotes\"" \
        --max-time 0.01 --peaks none --out "$tmp/quoted.jsonl"
    for file in quoted forged; do
        expect 0 '' "$benchcnn" plot speedup "$tmp/$file.jsonl" --impl cpu:direct --baseline cpu:im2col --out "$tmp/$file"
        tests=$((tests + 1))
        LC_ALL=C grep -q -P '[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]' "$tmp/$file.svg" && fail "plot: control characters in the picture"
    done
    grep -q "it's &quot;q&quot; \`id\` @x {_a}" "$tmp/quoted.svg" || grep -q "it's \"q\" \`id\` @x {_a}" "$tmp/quoted.svg" ||
        fail "plot: the name is not in the picture as it is: $(grep -o 'it.*q.*' "$tmp/quoted.svg" | head -1)"
fi

# ---- A limit on address space: words, no hang. A sanitizer takes more than any limit by itself.
if ! grep -q -a -e __asan_init -e __tsan_init "$benchcnn"; then
    limited() { (ulimit -v "$1" && exec "${@:2}"); }
    tests=$((tests + 2))
    timeout -s KILL 60 bash -c "ulimit -v 1000000; exec \"\$@\"" - "$benchcnn" verify --impl cpu:direct --op conv --problem $problem >"$tmp/said" 2>&1 ||
        fail "under ulimit -v 1000000: $(head -c 300 "$tmp/said")"
    for limit in 50000 60000 80000 100000; do
        timeout -s KILL 30 bash -c "ulimit -v $limit; exec \"\$@\"" - "$benchcnn" list >"$tmp/said" 2>&1
        status=$?
        [ $status -lt 124 ] || [ $status -eq 127 ] || fail "under ulimit -v $limit: ended with $status: $(head -c 300 "$tmp/said")"
        [ -s "$tmp/said" ] || fail "under ulimit -v $limit: not a word"
    done
fi

# ---- A server that sends elsewhere, and not over https; one that sends something else.
if command -v curl >/dev/null && command -v python3 >/dev/null; then
    echo 'not MNIST' >"$tmp/data/train-images-idx3-ubyte.gz"
    python3 - "$tmp/port" <<'PY' &
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(302)
        self.send_header("Location", "http://127.0.0.1:%d/again%s" % (self.server.server_port, self.path))
        self.end_headers()
    def log_message(self, *rest): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open(sys.argv[1] + ".part", "w").write(str(server.server_port))
os.rename(sys.argv[1] + ".part", sys.argv[1])
server.serve_forever()
PY
    server=$!
    for _ in $(seq 100); do [ -s "$tmp/port" ] || sleep 0.1; done
    # exit status 1 of curl: a protocol that is not allowed
    BENCHCNN_MNIST_URL=http://127.0.0.1:$(cat "$tmp/port") expect 2 "could not be fetched (exit status 1)" "$benchcnn" data fetch --out "$tmp/fetched"
    kill $server
    BENCHCNN_MNIST_URL=file://$tmp/data expect 2 "SHA-256|train-images-idx3-ubyte" "$benchcnn" data fetch --out "$tmp/fetched"
    [ -z "$(ls -A "$tmp/fetched")" ] || fail "data fetch left $(ls "$tmp/fetched")"
    if [ -n "${BENCHCNN_DATA:-}" ] && ls "$BENCHCNN_DATA"/mnist/*-ubyte.gz >/dev/null 2>&1; then
        BENCHCNN_MNIST_URL=file://$(realpath "$BENCHCNN_DATA")/mnist expect 0 "60000 images" "$benchcnn" data fetch --out "$tmp/fetched"
    fi
fi

# ---- compute --expect: 1 x 1 convolutions of four numbers, little-endian f32 from their bits.
npy() { # FILE SHAPE BITS...
    local file=$1 header="{'descr': '<f4', 'fortran_order': False, 'shape': $2, }" bits
    shift 2
    { printf '\x93NUMPY\x01\x00\x76\x00' && printf '%-117s\n' "$header"; } >"$file"
    for bits in "$@"; do printf '%b' "\\x${bits:6:2}\\x${bits:4:2}\\x${bits:2:2}\\x${bits:0:2}" >>"$file"; done
}
conv=(compute --impl cpu:naive --dir FWD --problem mb1ic1ih1iw4oc1oh1ow4kh1kw1 --in x="$tmp/x.npy" --in w="$tmp/w.npy" --out "$tmp/y.npy")
npy "$tmp/w.npy" '(1, 1, 1, 1)' 3f800000
npy "$tmp/x.npy" '(1, 1, 1, 4)' 7fc00000 40000000 3f800000 40400000 # NaN, 2, 1, 3
cp "$tmp/x.npy" "$tmp/nan.npy"
expect 0 "PASSED" "$benchcnn" "${conv[@]}" --expect "$tmp/nan.npy"
npy "$tmp/no.npy" '(1, 1, 1, 4)' 3f800000 40000000 3f800000 40400000 # a number where NaN must come
expect 1 "FAILED" "$benchcnn" "${conv[@]}" --expect "$tmp/no.npy"
npy "$tmp/x.npy" '(1, 1, 1, 4)' 3f800000 40000000 3f800000 40400000
expect 1 "FAILED" "$benchcnn" "${conv[@]}" --expect "$tmp/nan.npy" # NaN where a number comes
npy "$tmp/x.npy" '(1, 1, 1, 4)' 7f800000 ff800000 3f800000 40400000 # infinity of either sign
cp "$tmp/x.npy" "$tmp/inf.npy"
expect 0 "PASSED" "$benchcnn" "${conv[@]}" --expect "$tmp/inf.npy"
expect 0 "PASSED" "$benchcnn" "${conv[@]}" --expect "$tmp/inf.npy" --rtol 0
npy "$tmp/no.npy" '(1, 1, 1, 4)' ff800000 ff800000 3f800000 40400000 # the other sign
expect 1 "FAILED" "$benchcnn" "${conv[@]}" --expect "$tmp/no.npy"
expect 1 "FAILED" "$benchcnn" "${conv[@]}" --expect "$tmp/no.npy" --rtol 1
npy "$tmp/no.npy" '(1, 1, 1, 4)' 7fc00000 ff800000 3f800000 40400000 # NaN where infinity must come
expect 1 "FAILED" "$benchcnn" "${conv[@]}" --expect "$tmp/no.npy"
npy "$tmp/no.npy" '(1, 1, 1, 4)' 7f7fffff ff800000 3f800000 40400000 # the largest number there
expect 1 "FAILED" "$benchcnn" "${conv[@]}" --expect "$tmp/no.npy"
# 1e38 times 8 is beyond f32, but not beyond f64, in which it may be expected
npy "$tmp/w.npy" '(1, 1, 1, 1)' 41000000
npy "$tmp/x.npy" '(1, 1, 1, 4)' 7e967699 fe967699 3f800000 40400000
npy "$tmp/inf.npy" '(1, 1, 1, 4)' 7f800000 ff800000 41000000 41c00000
expect 0 "PASSED" "$benchcnn" "${conv[@]}" --expect "$tmp/inf.npy"
sum=(compute --impl cpu:naive --op fc --dir FWD --problem mb4ic3oc1 --in x="$tmp/x.npy" --in w="$tmp/w.npy" --out "$tmp/y.npy")
npy "$tmp/w.npy" '(1, 3)' 3f800000 3f800000 3f800000
npy "$tmp/x.npy" '(4, 3)' 7f000000 7f000000 ff000000 3f800000 40000000 40400000 bf800000 40000000 40400000 3f800000 40000000 40800000 # the first leaves f32 half way
"$benchcnn" "${sum[@]}" >/dev/null || fail "${sum[*]}"
cp "$tmp/y.npy" "$tmp/came.npy"
expect 0 "PASSED" "$benchcnn" "${sum[@]}" --expect "$tmp/came.npy"
relu=(compute --impl cpu --op act --dir FWD --problem relu:mb1ic1ih1iw4 --in x="$tmp/x.npy" --out "$tmp/y.npy")
npy "$tmp/x.npy" '(1, 1, 1, 4)' 7fc00000 40000000 bf800000 40400000 # a ReLU of NaN: whatever it is, if both have it
"$benchcnn" "${relu[@]}" >/dev/null || fail "${relu[*]}"
cp "$tmp/y.npy" "$tmp/came.npy"
expect 0 "PASSED" "$benchcnn" "${relu[@]}" --expect "$tmp/came.npy"
npy "$tmp/x.npy" '(1, 1, 1, 4)' 3f800000 40000000 bf800000 40400000
expect 1 "FAILED" "$benchcnn" "${relu[@]}" --expect "$tmp/nan.npy"
npy "$tmp/w.npy" '(1, 1, 1, 1)' 3f800000
npy "$tmp/x.npy" '(1, 1, 1, 4)' 00000001 00000123 00400000 3f800000 # denormals beside a 1
cp "$tmp/x.npy" "$tmp/small.npy"
npy "$tmp/w.npy" '(1, 1, 1, 1)' 3f000000 # half of the least is 0: no fault of the arithmetic
npy "$tmp/small.npy" '(1, 1, 1, 4)' 00000000 00000092 00200000 3f000000
expect 0 "PASSED|f64" "$benchcnn" "${conv[@]}" --expect "$tmp/small.npy"
npy "$tmp/x.npy" '(1, 1, 1, 4)' 3f800001 00000123 00400000 40400001
npy "$tmp/w.npy" '(1, 1, 1, 1)' 3f800003
npy "$tmp/flushed.npy" '(1, 1, 1, 4)' 3f800004 00000000 00000000 40400006 # as TensorFlow has it: denormals become 0
expect 0 "PASSED|your expectation has the precision of f32" "$benchcnn" "${conv[@]}" --expect "$tmp/flushed.npy"
npy "$tmp/w.npy" '(1, 1, 1, 1)' 3f000000
npy "$tmp/x.npy" '(1, 1, 1, 4)' 00000001 00000123 00400000 00000007 # nothing but denormals: zeros would do
npy "$tmp/small.npy" '(1, 1, 1, 4)' 00000000 00000000 00000000 00000000
expect 1 '"state":"MISTRUSTED"|"precision":""' "$benchcnn" "${conv[@]}" --expect "$tmp/small.npy" --json

finish
