#!/usr/bin/env bash
# run.sh BENCHCNN PLUGIN PATTERN PROBLEMS: what `verify --plugin` says of a plug-in with a mistake: status 1, and words like the pattern, in
# less than two minutes. PATTERN -: there is none, and all is PASSED. PROBLEMS: `default`, `few`, or
# `half`: few of them in the types of 16 bits; `whole`: on integers; `quantized`: with quantized results;
# `epilogue`: with an epilogue; `quantized_epilogue`: with both.
set -u
benchcnn=$1 plugin=$2 pattern=$3
out=$(mktemp)
trap 'rm -f "$out"' EXIT
ulimit -c 0
export ASAN_OPTIONS=handle_segv=0:handle_abort=0:detect_leaks=0:allow_user_poisoning=0
few=()
[ "$4" = half ] && few=(--dtype f16,bf16)
[ "$4" = whole ] && few=(--dtype u8:s8:s32,s8:s8:s32 --problem mb1ic3ih7oc5kh3ph1)
[[ "$4" = quantized* ]] && few=(--dtype u8:s8:u8,u8:s8:s8,s8:s8:s8,s8:s8:u8)
case $4 in
    default) problems=() ;;
    quantized) problems=(mb2ic5ih9oc6kh3ph1 mb2ic8ih10oc6kh3ph1zx100zy20soc1 g2mb3ic6ih9oc8kh3sh2ph2zx7zy-10soc1 mb1ic9ih7oc4kh2zx3zy7) ;;
    quantized_epilogue) problems=(add+relu:mb2ic5ih9oc6kh3ph1zy20 relu:mb2ic8ih10oc6kh3ph1zx100zy40soc1 add:g2mb3ic6ih9oc8kh3sh2ph2zx7zy10
        add+leaky_relu=0.25:mb1ic9ih7oc4kh2zx3zy7 clipped_relu=40:mb1ic9ih9oc4kh2zy3 add+relu:mb2ic8ih9oc5kh3) ;;
    epilogue) problems=(add+relu:mb2ic5ih9oc6kh3ph1 relu:mb2ic8ih10oc6kh3ph1 add+leaky_relu=0.25:g2mb3ic6ih9oc8kh3sh2ph2 clipped_relu=2:mb1ic9ih7oc4kh2
        add+elu=0.5:mb1ic4ih8oc5kh3 add:mb1ic3ih7oc4kh3ph1 selu:mb1ic3ih7oc4kh3ph1 tanh:mb1ic3ih7oc4kh3ph1 add+sigmoid:mb1ic3ih7oc4kh3ph1) ;;
    *) problems=(mb3ic1ih28oc20oh16kh4sh2ph6dh2 mb2ic3ih13iw17oc5kh3kw2ph1pw0 g4mb2ic8ih10oc12kh3ph1 mb2ic64ih9oc48kh3ph1) ;;
esac
[ "$4" != whole ] || problems[3]=mb1ic64ih7oc8kh3ph1 # sums as long, of fewer outputs: whole.c is slow
for p in "${problems[@]}"; do few+=(--problem "$p"); done
[[ "$pattern" != *"did not finish"* ]] || few+=(--isolate-limit 5) # the default is what a large problem may take
wanted=$([ "$pattern" != - ] && echo 1 || echo 0)
timeout -s KILL 120 "$benchcnn" verify --plugin "$plugin" --seed 1 --quiet "${few[@]}" >"$out" 2>&1
status=$?
failed=0
[ $status -eq "$wanted" ] || { echo "FAILED: it ended with $status, not $wanted" && failed=1; }
[ "$pattern" = - ] || grep -qE -- "$pattern" "$out" || { echo "FAILED: nobody says '$pattern'" && failed=1; }
# Beta is blamed alone for what is right without it: what adds, or adds twice.
[[ "$pattern" = *beta* || "$pattern" = *twice* ]] || ! grep -q 'with beta 1' "$out" || { echo "FAILED: beta is blamed" && failed=1; }
[ $failed -eq 0 ] || head -c 3000 "$out"
exit $failed
