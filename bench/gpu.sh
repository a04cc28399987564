#!/usr/bin/env bash
# gpu.sh: proves and measures the CUDA implementations on a machine with a GPU; records and logs go to out/gpu (or $OUT).
#   bench/gpu.sh build verify train         any of: build, verify, nets, sanitize, train, table, tensor, sweep, fused, peers, trainkernel, resnet, resnet20, ladder, cpu, peaks, host, memory, streams, accused, alarms, processes, records, speedup, ranks (ranks_alike, ranks_epochs)
set -euo pipefail
cd "$(dirname "$0")/.."
out=${OUT:-out/gpu}
benchcnn=${BENCHCNN:-build/cuda/benchcnn}
gpu=${GPU_IMPLS:-cuda_naive,cuda_im2col,cuda_tensor,cudnn}
failed=0 # whether anything verified or sanitized did
mkdir -p "$out"
export BENCHCNN_REQUIRE_GPU=1

problems() { for f in "$@"; do printf -- '--problems bench/problems/%s.txt ' "$f"; done; }
verify_one() { # NAME, then options: the last lines and every failure, the whole in a log
    local name=$1 status=0
    shift
    "$benchcnn" verify "$@" --quiet --out "$out/verify_$name.jsonl" >"$out/verify_$name.log" 2>&1 || status=$?
    printf '== verify %s: %s\nstatus %d\n%s\n' "$name" "$*" $status \
        "$(grep -a -E 'FAILED|MISTRUSTED' "$out/verify_$name.log" | grep -v ' 0 FAILED' | head -${FAILURES:-12}; tail -2 "$out/verify_$name.log")"
    return $status
}
verify() { verify_one "$@" || failed=1; }

build() {
    cmake --preset cuda -G Ninja >"$out/configure.log" 2>&1 || { tail -30 "$out/configure.log"; exit 1; }
    tail -6 "$out/configure.log"
    time cmake --build --preset cuda >"$out/build.log" 2>&1 || { grep -a -E 'error|FAILED' "$out/build.log" | head -40; exit 1; }
    "$benchcnn" list | head -60
}

verify_all() {
    for impl in ${gpu//,/ }; do
        verify "${impl}_ops" --impl "$impl:*" --op all
        # shellcheck disable=SC2046  # several words on purpose
        verify "${impl}_conv" --impl "$impl:*" --op conv $(problems thesis awnn_table1 odd dilated)
        verify "${impl}_epilogues" --impl "$impl:*" --op conv,fc --dir FWD --epilogue add+relu --layout all
        verify "${impl}_net" --impl "$impl" --net thesis
        verify "${impl}_offload" --impl "$impl" --net projection --offload
        verify "${impl}_streams" --impl "$impl" --net projection --streams 2
    done
    for net in thesis small mlp_64; do verify "cuda_fused_$net" --impl cuda_fused --net $net; done
    for cluster in 1 2 5 10; do # blocks that share an image
        verify "cuda_fused_v3_$cluster" --impl cuda_fused:v3 --net thesis --set cuda_fused.v3.cluster=$cluster
    done
    # shellcheck disable=SC2046
    verify "resnet50" --impl "$gpu" --op conv --check exact,bound,memory $(problems resnet50)
}

# Whole networks: every net on every implementation, also on two streams; some at once. Status 3: not for this implementation.
nets() {
    local net impl
    export -f verify_one nets_one
    export benchcnn out
    for net in bench/nets/*.net; do
        net=${net##*/} net=${net%.net}
        for impl in ${gpu//,/ } cuda_fused; do
            echo "net_${net}_$impl --net $net --impl $impl"
            [ "$impl" = cuda_fused ] || echo "streams_${net}_$impl --net $net --impl $impl --streams 2"
        done
    done | xargs -P 6 -d '\n' -I{} bash -c 'nets_one {}' || failed=1
    cat "$out"/verify_net_*.log "$out"/verify_streams_*.log | grep -a -oE '[0-9]+ (FAILED|PASSED|MISTRUSTED|UNSUPPORTED|SKIPPED)' |
        awk '{sum[$2] += $1} END {for (state in sum) print sum[state], state}'
}
nets_one() { verify_one "$@" || [ $? -eq 3 ]; }

# What is run under compute-sanitizer, a line a process: benchcnn's command. It follows every access of every kernel,
# racecheck those to shared memory one by one: all of cuDNN's in one process do not come to an end. So a process for each
# of its algorithms, on two small problems, and for each operation; as many at once as there are cores.
sanitized() {
    local impl name op way net cluster alone checked='--check bound --threads 1 --quiet'
    # Few input channels; channels that fill a tile and some that do not; pixels for several pieces of BWD_W; 1x1.
    local few='--problem mb4ic3ih14oc64kh3ph1 --problem mb2ic64ih9oc72kh3ph1 --problem mb8ic64ih14oc64kh3ph1 --problem mb2ic72ih8oc40kh1'
    for impl in v1 v2 v3; do
        for net in thesis small mlp_64; do
            echo "train --net $net --impl cuda_fused:$impl --data synthetic --images 60,20 --batch 37 --shift 1 --quiet"
        done
    done
    for cluster in 1 2 5 10; do # clusters of so many blocks; with one barrier of the grid a step, and with two
        for alone in 16000 0; do
            echo "train --net thesis --impl cuda_fused:v3 --set cuda_fused.v3.cluster=$cluster --set cuda_fused.v3.alone=$alone" \
                "--data synthetic --images 40,10 --batch 6 --shift 1 --quiet"
        done
    done
    for impl in ${gpu//,/ }; do
        for way in '' --no-graph '--data-on host'; do
            echo "train --net thesis --impl $impl --data synthetic --images 200,50 --batch 37 --shift 1 --quiet $way"
        done
        echo "train --net projection --impl $impl --data synthetic --images 200,50 --batch 37 --quiet --offload"
        echo "train --net projection --impl $impl --data synthetic --images 200,50 --batch 37 --quiet --streams 2"
        [ "$impl" = cudnn ] && continue
        if [ "$impl" = cuda_tensor ]; then # 1x1 of f32, by boxes: x or dy with more channels
            for way in f32 tf32; do
                echo "verify --impl cuda_tensor --op conv --problem mb2ic72ih8oc40kh1 --problem mb3ic40ih10oc72kh1 --layout nchw,nhwc" \
                    "--math $way --set cuda_tensor.matrix=1 $checked"
            done
            # Strides: gathered pixels, and BWD_D in phases; NCHW as it lies, and copied to NHWC.
            for way in 0 1; do
                echo "verify --impl cuda_tensor --op conv --problem mb2ic72ih9oc40kh3sh2ph1 --problem mb2ic40ih8oc24kh1sh2 --layout nchw,nhwc" \
                    "--dtype f32,bf16 --set cuda_tensor.repack=$way $checked"
            done
        fi
        if [ "$impl" = cuda_naive ]; then
            for way in 64 128; do
                echo "verify --impl cuda_naive:v5 --op conv --problem mb2ic72ih8oc136kh3sh2ph1 --problem g2mb1ic26ih7oc10kh3ph1 --layout nchw,nhwc" \
                    "--set cuda_naive.product.rows=$way --set cuda_naive.product.splits=3 $checked"
                echo "verify --impl cuda_naive:v6 --op conv --problem mb2ic72ih8oc136kh3sh2ph1 --problem g2mb1ic36ih7oc10kh3ph1 --layout nchw,nhwc" \
                    "--dtype f32,bf16 --set cuda_naive.product.rows=$way --set cuda_naive.product.splits=3 $checked"
            done
            echo "verify --impl cuda_naive:depthwise --op conv --problems bench/problems/depthwise_odd.txt --layout nchw,nhwc --dtype f32,bf16 $checked"
        fi
        if [ "$impl" = cuda_tensor ]; then # 1x1 of f32 from memory to registers: by four numbers along either axis, and one by one
            for way in f32 tf32; do
                echo "verify --impl cuda_tensor --op conv --problem mb2ic72ih8oc40kh1 --problem mb1ic520ih7oc72kh1 --problem mb1ic18ih9oc35kh1sh2" \
                    "--layout nchw,nhwc --math $way --set cuda_tensor.direct=1 $checked"
            done
        fi
        if [ "$impl" = cuda_tensor ]; then # few input channels, a row of the kernel as channels; few tiles, shared by blocks
            for way in f32 tf32; do
                echo "verify --impl cuda_tensor --op conv --problem mb2ic3ih15oc10kh7sh2ph3 --problem mb2ic1ih9iw11oc5kh5kw3ph2pw1 --layout nchw,nhwc" \
                    "--math $way --set cuda_tensor.fold=1 $checked"
                echo "verify --impl cuda_tensor --op conv --problem mb1ic264ih7oc72kh1 --problem mb1ic136ih9oc40kh3sh2ph1 --layout nchw,nhwc --math $way $checked"
            done
        fi
        if [ "$impl" = cuda_tensor ]; then # 1x1 of 16 bits in NCHW, a product of matrices an image
            echo "verify --impl cuda_tensor --op conv --problem mb3ic40ih4oc24kh1 --problem mb2ic72ih12oc136kh1 --problem mb2ic136ih8oc328kh1" \
                "--dtype f16,bf16:bf16:f32 $checked"
        fi
        case $impl in cuda_tensor | cuda_naive)
            for op in "conv $few --layout nchw,nhwc" 'conv --problem mb8ic136ih9oc72kh3ph1 --problem mb8ic200ih9oc136kh1 --layout nhwc' 'fc --problem mb3ic7ih3oc5 --problem mb130ic72oc70' \
                'deconv --no-bias --problem mb2ic3ih7oc5kh3ph1 --problem mb2ic64ih7oc24kh3ph1'; do
                echo "verify --impl $impl --op $op --dtype f16,bf16:bf16:f32 $checked"
            done
            echo "verify --impl $impl --op conv --dir FWD --epilogue add+relu $few --layout nchw,nhwc --dtype f32,bf16 $checked"
            ;;
        esac
        for op in conv deconv conv3d fc,pool,pool3d,act loss,dropout,add,concat,batchnorm,optimizer; do echo "verify --impl $impl:* --op $op $checked"; done
    done
    case ,$gpu, in *,cudnn,*) ;; *) return ;; esac
    for name in implicit_gemm implicit_precomp_gemm gemm algo_0 algo_1 algo_3 fft fft_tiling winograd winograd_nonfused \
        heuristic graph:heuristic; do
        echo "verify --impl cudnn:$name --op conv --problem mb2ic3ih13oc5kh3ph1 --problem mb2ic8ih16oc8kh5ph2 $checked"
    done
    for name in heuristic graph:heuristic; do
        echo "verify --impl cudnn:$name --op deconv --problem mb2ic3ih7oc5kh3ph1 --problem mb2ic8ih6oc8kh4sh2ph1 $checked"
    done
    echo "verify --impl cudnn:heuristic --op conv3d --problem mb2ic3id5ih7iw7oc5kd3kh3kw3pd1ph1pw1 $checked"
    echo "verify --impl cudnn:* --op fc --problem mb3ic7ih3oc5 --problem mb5ic33oc17 $checked"
    for op in pool pool3d act loss dropout add,concat,optimizer batchnorm; do echo "verify --impl cudnn:* --op $op $checked"; done
}

sanitize_one() { # TOOL COMMAND...
    local tool=$1 name status=0 since=$SECONDS
    shift
    name=sanitizer_${tool}_$(cksum <<<"$*" | cut -d' ' -f1)
    timeout "${SANITIZER_LIMIT:-300}" compute-sanitizer --tool "$tool" --error-exitcode 9 "$benchcnn" "$@" >"$out/$name.log" 2>&1 || status=$?
    printf '%-10s status %d, %3d s, %s: %s (%s)\n' "$tool" $status $((SECONDS - since)) "$*" \
        "$(grep -a -o -E 'ERROR SUMMARY.*|RACECHECK SUMMARY.*' "$out/$name.log" | tail -1)" "$name.log"
    [ $status -eq 0 ] || [ $status -eq 3 ] # 3: cuDNN has none of this algorithm for these problems
}

# A short run of each kernel under each tool of compute-sanitizer; of those alone that match SANITIZE_ONLY, an extended pattern.
sanitize() {
    local tool
    export -f sanitize_one
    export benchcnn out
    for tool in ${SANITIZERS:-racecheck memcheck initcheck synccheck}; do
        sanitized | grep -E -- "${SANITIZE_ONLY:-.}" | sed "s/^/$tool /"
    done | xargs -P "$(nproc)" -d '\n' -I{} bash -c 'set -f; sanitize_one {}' || failed=1
}

# The accuracy that the network has in it: three seeds each, a rate that falls to zero, and images that are moved by up to
# a pixel, without which it learns its 60,000 images by heart.
train() {
    local seed
    for impl in ${gpu//,/ }; do
        for seed in 1 2 3; do
            "$benchcnn" train --net thesis --impl "$impl" --batch 100 --epochs 40 --seed $seed --quiet --out "$out/train.jsonl" \
                --shift 1 --optimizer adam,lr=0.005,l2=2e-4,decay_steps=24000 | tail -2
        done
    done
}

sweep() {
    for impl in ${SWEEP_IMPLS:-cuda_naive:v4 cuda_im2col:implicit_pad cudnn:find cudnn:graph:find}; do
        "$benchcnn" sweep batch --impl "$impl" --epochs 3 --quiet --out "$out/sweep.jsonl" | tail -16
    done
}

# Whole passes in one launch, beside the fastest composition; and what other programs take for the same epochs. MNIST lies in
# $BENCHCNN_DATA/mnist.
twelve=5,10,20,40,50,100,200,400,500,1000,2000,5000
fused() {
    for impl in cuda_fused:v3 cuda_fused:v2 cuda_naive:v4 cuda_fused:v1; do
        "$benchcnn" train --net thesis --impl $impl --batch $twelve --epochs 3 --quiet --out "$out/fused.jsonl" | tail -16
    done
}
peers() { python3 bench/peers/pytorch_epochs.py "${BENCHCNN_DATA:?}/mnist" ${twelve//,/ } | tee "$out/pytorch.jsonl"; }

# ResNet-20, CIFAR-10's shapes, in both layouts, f32 and TF32, beside cuDNN's and PyTorch's epochs of as many images.
resnet20() {
    local layout math impl optimizer=momentum,lr=0.1,beta1=0.9,l2=1e-4 images=${RESNET20_IMAGES:-50000,10000} batch=${RESNET20_BATCH:-125}
    for math in f32 tf32; do
        for layout in nchw nhwc; do
            for impl in ${RESNET20_IMPLS:-cuda_tensor cudnn:find}; do
                "$benchcnn" train --net resnet20 --data synthetic --images "$images" --impl "$impl" --batch "$batch" --epochs 3 \
                    --layout $layout --math $math --optimizer $optimizer --quiet --out "$out/resnet20.jsonl" | tail -1
            done
            # shellcheck disable=SC2046  # options
            python3 bench/peers/pytorch_epochs.py --net bench/nets/resnet20.net --images "$images" \
                $([ $math = tf32 ] && echo --tf32) $([ $layout = nhwc ] && echo --nhwc) "$batch" | tee -a "$out/resnet20_pytorch.jsonl"
        done
    done
}

# MLPs in TrainKernel, a step a launch, beside cuda_fused, by turns. In the first round nvcc compiles TrainKernel's kernels,
# with several options each; the second keeps the fastest. TRAINKERNEL_SITE is where it lies (pip install --no-deps --target DIR
# trainkernel==0.2.0); TRAINKERNEL_POINTS are others, NET:BATCH, with batches that divide 12,800 images.
trainkernel() {
    local round point points like=() theirs=$out/trainkernel.jsonl ours=$out/trainkernel_fused
    read -ra points <<<"${TRAINKERNEL_POINTS:-mlp_64:4 mlp_128:32 mlp_512:128}"
    points=("${points[@]/:/.net:}")
    rm -f "$theirs" "$ours"_[12].jsonl # or ours were not run again
    for round in 1 2; do
        PYTHONPATH=${TRAINKERNEL_SITE:?where TrainKernel is installed} python3 bench/peers/trainkernel_epochs.py \
            --images 12800 --lr 0.001 "${like[@]}" "${points[@]/#/bench/nets/}" >"$out/trainkernel_$round.jsonl" || failed=1
        cat "$out/trainkernel_$round.jsonl" >>"$theirs"
        like=(--like "$out/trainkernel_1.jsonl")
        for point in "${points[@]}"; do
            "$benchcnn" train --net "${point%.net:*}" --impl "${TRAINKERNEL_IMPL:-cuda_fused}" --batch "${point#*:}" --epochs 5 \
                --data synthetic --images 12800,100 --optimizer sgd,lr=0.001 --quiet --out "${ours}_$round.jsonl" \
                >"$out/trainkernel.log" 2>&1 || { echo "$point: EXIT $?" && tail -5 "$out/trainkernel.log" && failed=1; }
        done
    done
    rm "$out"/trainkernel_[12].jsonl
    awk -f bench/peers/beside.awk "$theirs" "$ours"_[12].jsonl
}

cpu() { "$benchcnn" sweep batch --impl cpu:direct,cpu:im2col --epochs 3 --quiet --out "$out/sweep.jsonl" | tail -16; }

# The ResNet report's table 1: all but the graph API's engines by number, of which graph:find takes the fastest.
table() {
    local named
    named=$(printf 'cudnn:%s,' heuristic find legacy:find implicit_gemm implicit_precomp_gemm gemm direct algo_0 algo_1 algo_3 fft fft_tiling \
        winograd winograd_nonfused graph:heuristic graph:find)
    "$benchcnn" bench --impl "cuda_naive:*,cuda_im2col:*,${named%,}" --problems bench/problems/awnn_table1.txt \
        --min-time 0.02 --max-time 0.2 --quiet --out "$out/awnn_table1.jsonl" | tail -40
}

# Ceilings, the thesis's convolutions under them, hot, cold and within the network's layers.
peaks() {
    "$benchcnn" peaks --impl "$gpu" --out "$out/peaks.jsonl"
    for caches in hot cold network; do
        "$benchcnn" bench --impl 'cuda_naive:v4,cuda_im2col:implicit_pad,cudnn:find' --net thesis --batch 1000 --cache $caches \
            --min-time 0.05 --max-time 0.5 --peaks "$out/peaks.jsonl" --quiet --out "$out/bench_$caches.jsonl" | tail -60
    done
    "$benchcnn" plot roofline "$out/bench_hot.jsonl" "$out/peaks.jsonl" --out "$out/roofline" || true
}

# Honest kernels, judged while they are timed: none may be accused. FIGURES of them, or until the call ends; what is there counts.
accused() {
    FIGURES=${FIGURES:-1000} BENCHCNN=$benchcnn bench/accused.sh "$out/accused" \
        "${ACCUSED_IMPLS:-cuda_naive:v4,cuda_im2col:implicit_pad,cuda_tensor,cudnn:heuristic,cudnn:graph:heuristic}" || failed=1
}

# How often two equal kernels are told apart, and slower ones are not (docs/bench.md). No trial begins behind ALARM_SECONDS;
# the same command goes on, with the trials of this kind of GPU.
alarms() {
    local of
    of=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1 | tr -c 'A-Za-z0-9\n' _)
    PLANTED=${PLANTED:-tests/cli/planted.cu} PROCESSES=${PROCESSES:-12} ALARM_SECONDS=${ALARM_SECONDS:-480} BENCHCNN=$benchcnn \
        bench/false_alarms.sh "$out/alarms_$of" | tee "$out/alarms_$of.txt" || failed=1
}

# What someone waits for who starts a program: whole processes, by hyperfine.
processes() {
    EPOCH_IMPLS=${EPOCH_IMPLS:-cpu:fused cudnn:graph:find cuda_fused:v3 cuda_naive:v4 cuda_tensor} RUNS=${RUNS:-10} BENCHCNN=$benchcnn \
        bench/hyperfine.sh "$out/processes.jsonl" || failed=1
}

# All that there is, a little of each, in one run: the recipe. Stopped by its limit, it is gone on with by the same command.
records() {
    local status=0
    timeout -s INT "${RECORDS_SECONDS:-400}" "$benchcnn" run bench/recipes/gpu_records.recipe --out "$out/records.jsonl" >"$out/records.log" 2>&1 || status=$?
    grep '"kind":"step"' "$out/records.jsonl" | sed -n 's/.*"command":"\(.\{1,60\}\).*"status":\([0-9]*\),"seconds":\([0-9]*\).*/status \2, \3 s: \1/p'
    tail -2 "$out/records.log"
    [ $status -eq 0 ] || [ $status -eq 124 ] || failed=1
}

# The GPU over the cores beside it; without gnuplot, all but the picture.
speedup() { "$benchcnn" run bench/recipes/speedup.recipe --out "$out/speedup.jsonl" >"$out/speedup.log" || tail -3 "$out/speedup.log"; }

# Tensor cores: own kernels beside cuDNN's, each API's fastest, in both layouts, f32 and TF32; and 16 bits.
tensor() {
    local layout math dtype six=(--problems bench/problems/resnet_six.txt --min-time 0.02 --max-time 0.1 --quiet)
    for layout in nhwc nchw; do
        for math in f32 tf32; do
            "$benchcnn" bench --impl cuda_tensor,cuda_im2col,cudnn:find,cudnn:legacy:find,cudnn:graph:find --layout $layout --math $math "${six[@]}" \
                --out "$out/tensor.jsonl" | tail -30
        done
        for dtype in bf16 f16; do
            "$benchcnn" bench --impl cuda_tensor,cudnn:find,cudnn:graph:find --layout $layout --dtype $dtype "${six[@]}" --out "$out/tensor_half.jsonl" | tail -30
        done
    done
}

# All convolutions of ResNet-50 beside the best cuDNN, one image (RESNET_IMAGES) and 32, and where who is ahead by how much.
# What is stopped by its limit goes on with the same command.
resnet() {
    local images
    for images in ${RESNET_IMAGES:-1 32}; do
        for way in 'nhwc --math tf32' 'nchw --math f32'; do
            # shellcheck disable=SC2086  # options
            timeout -s INT "${RESNET_SECONDS:-170}" "$benchcnn" bench --impl "${RESNET_IMPLS:-cuda_tensor,cudnn:find}" --op conv --no-bias \
                --problems bench/problems/resnet50.txt --mb "$images" --layout $way --min-time 0.01 --max-time 0.05 --peaks none --quiet \
                --out "$out/resnet50.jsonl" >"$out/resnet50_$images.log" 2>&1 || tail -2 "$out/resnet50_$images.log"
        done
    done
    "$benchcnn" table "$out/resnet50.jsonl" --kind solved --baseline "${RESNET_BASELINE:-cudnn:find}" --by batch,math,dir || failed=1
}

# The readable ladder on layers of many channels: cuda_naive's versions beside products by cuBLAS, and cuDNN.
ladder() {
    "$benchcnn" bench --impl "cuda_naive:v6,cuda_naive:v5,cuda_naive:v4,cuda_im2col,cudnn:find" --problems bench/problems/resnet_six.txt --layout nchw,nhwc \
        --min-time 0.02 --max-time 0.1 --quiet --out "$out/products.jsonl" | tail -60
    "$benchcnn" table "$out/products.jsonl" --kind solved --baseline cuda_naive:v4 --by layout,dir || failed=1
}

# What a training step takes the host with and without replay: host_step_s, to be below 5 us with it.
host() {
    for impl in ${gpu//,/ }; do
        for way in '' --no-graph; do
            # shellcheck disable=SC2086  # nothing or one word
            "$benchcnn" train --net thesis --impl "$impl" --batch 50 --epochs 3 --quiet $way --out "$out/host.jsonl" | tail -1
        done
    done
    grep -o '"impl":"[^"]*"\|"graph":[a-z]*\|"host_step_s":[^,}]*' "$out/host.jsonl"
}

# What --recompute and --offload cost in time, where memory is short: the bytes are in the records. The profile says how long
# the device waits for copies.
memory() {
    local way
    sed 's/conv 16/conv 256/' bench/nets/awnn_resnet.net >"$out/awnn256.net"
    for way in '' --recompute --offload '--recompute --offload' '--offload --profile'; do
        # Few images a step: the host computes some steps again in float64, 256 channels of 16 images in seconds.
        # shellcheck disable=SC2086  # options
        "$benchcnn" train --net "$out/awnn256.net" --data synthetic --images 192,16 --impl "${MEMORY_IMPL:-cudnn:find}" --batch 16 \
            --epochs 3 --quiet $way --out "$out/memory.jsonl" | tail -12
        # shellcheck disable=SC2086
        "$benchcnn" train --net resnet20 --data synthetic --images 2500,250 --impl "${MEMORY_IMPL:-cudnn:find}" --batch 250 \
            --epochs 3 --quiet $way --out "$out/memory.jsonl" | tail -12
    done
    grep '"kind":"epoch"' "$out/memory.jsonl" | grep -o '"recompute":[a-z]*\|"offload":[a-z]*\|"train_s":[^,}]*\|"values_bytes":[^,}]*\|"offload_bytes":[^,}]*'
}

# One stream and two, by turns, where one operation may not fill the GPU: the same weights, then the times of epochs. By an
# implementation whose sums have one order: cuDNN's algorithms may have other bits in each run.
streams() {
    local net images batch turn way
    sed 's/conv 16/conv 256/' bench/nets/awnn_resnet.net >"$out/awnn256.net"
    while read -r net images batch; do
        for ((turn = 1; turn <= ${STREAMS_TURNS:-3}; turn++)); do
            for way in 1 2; do
                "$benchcnn" train --net "$net" --data synthetic --images "$images" --impl "${STREAMS_IMPL:-cuda_tensor}" --batch "$batch" \
                    --epochs 3 --quiet --streams $way --save "$out/streams_$way.st" --out "$out/streams.jsonl" | tail -4
            done
            cmp "$out/streams_1.st" "$out/streams_2.st" || { echo "$net: two streams give other weights (turn $turn)" && failed=1; }
        done
    done <<<"resnet20 2500,250 25
$out/awnn256.net 192,16 4
thesis 6000,1000 25"
    grep '"kind":"epoch"' "$out/streams.jsonl" | grep -o '"net":"[^"]*"\|"streams":[0-9]*\|"train_s":[^,}]*\|"values_bytes":[^,}]*'
}

# Ranks, on as many GPUs (RANKS, 2; or several numbers, '2 4'), by MPI and NCCL: what must hold, then epochs. NCCL's multicast
# is left off, which is not everywhere allowed.
ranks() {
    ranks_alike
    ranks_epochs
}

ranks_environment() { export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0} OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; }

ranks_train() { # NAME NUMBER: twelve steps on so many ranks, 0 being without a launcher: weights, records, losses
    local name=$1 launcher=(mpirun --bind-to none -n "$2")
    [ "$2" -eq 0 ] && launcher=()
    rm -f "$out/ranks_$name.jsonl" # or its epochs were not run again
    "${launcher[@]}" "$benchcnn" train --net thesis --impl "${RANK_IMPL:-cuda_naive}" --images 6000,1000 --batch 500 --samples --quiet \
        --save "$out/ranks_$name.st" --out "$out/ranks_$name.jsonl" >"$out/ranks_$name.log" 2>&1 ||
        { echo "$name: EXIT $?" && tail -5 "$out/ranks_$name.log" && failed=1; }
    grep -o '"losses":.*' "$out/ranks_$name.jsonl" | grep -oE '[0-9]+[.][0-9e-]+' >"$out/ranks_$name.losses"
}

# One rank has the bits of none, as many ranks twice the same, and their losses those of one process, step by step.
ranks_alike() {
    local n
    ranks_environment
    ranks_train none 0
    ranks_train one 1
    cmp "$out/ranks_none.st" "$out/ranks_one.st" && echo "one rank has the bits of none" || failed=1
    for n in ${RANKS:-2}; do
        ranks_train "$n" "$n"
        ranks_train "$n"_again "$n"
        cmp "$out/ranks_$n.st" "$out/ranks_${n}_again.st" && echo "$n ranks have the same bits twice" || failed=1
        paste "$out/ranks_none.losses" "$out/ranks_$n.losses" | awk -v n="$n" '
            {d = ($1 - $2) / $1; d = d < 0 ? -d : d; if (d > most) most = d}
            END {print "largest relative difference of a loss in " NR " steps on " n " ranks: " most + 0; exit !(NR == 12 && most <= 1e-5)}' || failed=1
    done
}

# At one batch (strong scaling), and at a batch beside its multiple (weak); and the table, beside a model. Rank 0 has most of
# the cores, as it alone computes steps again: RANK_LAUNCHER is another way to start ranks.
ranks_epochs() {
    local net data way='mpirun --bind-to none -n {} bench/rank_cores.sh' numbers=${RANKS:-2}
    ranks_environment
    for net in ${RANK_NETS:-thesis gorgonia awnn_resnet}; do
        data=auto
        [ "$net" = awnn_resnet ] && data=synthetic # its images are not MNIST's
        "$benchcnn" sweep ranks=1,"${numbers// /,}" --net "$net" --data "$data" --impl "${RANK_IMPL:-cuda_naive}" \
            --batch "${RANK_BATCHES:-500,1000,2000,5000,10000,20000}" --launcher "${RANK_LAUNCHER:-$way}" \
            ${RANK_IMAGES:+--images "$RANK_IMAGES"} --epochs 3 --weak --quiet --out "$out/ranks.jsonl" >"$out/ranks_$net.log" 2>&1 || { echo "$net: EXIT $?" && tail -5 "$out/ranks_$net.log" && failed=1; }
    done
    "$benchcnn" table "$out/ranks.jsonl" --kind scaling || failed=1
}

for phase in "$@"; do
    [ "$phase" = verify ] && phase=verify_all
    "$phase"
done
exit $failed
