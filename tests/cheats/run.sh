#!/usr/bin/env bash
# run.sh BENCHCNN FOLDER NAME [ROW]: runs the cheat NAME, FOLDER/NAME.so, through the commands that its line of `list` names,
# and holds what they come to against that line. ROW: a file to which a line of docs/cheats.md is added (see matrix.sh).
#
# A command is fooled when it ends with status 0, or records a figure, though the line says that it must not; when it does
# not end within a minute; when it leaves processes behind; when its records are no JSON, or its text holds a raw escape
# sequence; when it crashes, for who watches it has a status of its own; when a figure that the line calls honest is not
# like the honest plug-in's. A command that the line calls "not caught yet" must be fooled: when it no longer is,
# the line is to be changed.
set -u
benchcnn=$(realpath "$1") folder=$(realpath "$2") so=$(realpath "$2")/$3.so name=$3 row=${4:-}
here=$(dirname "$(realpath "$0")")
[ -z "$row" ] || row=$(realpath "$row")
IFS='|' read -r _ settings wanted open < <(grep -E "^$name +\|" "$here/list") || true
[ -n "${wanted:-}" ] || { echo "$name has no line in $here/list" && exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
ulimit -c 0
for fd in /proc/$$/fd/*; do # what this test inherited is not for a plug-in to write to
    fd=${fd##*/}
    [ "$fd" -le 2 ] || [ "$fd" -eq 255 ] || eval "exec $fd>&-"
done
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE OPENBLAS_BLOCK_FACTOR CUDA_LAUNCH_BLOCKING BENCHCNN_DATA # a warning is no finding
export LC_ALL=C
mark=BENCHCNN_CHEAT_RUN=$$.$RANDOM # in the environment of what the command starts
# A crash is to end its process, and plug-ins are built without the program's sanitizers: what they leak is theirs.
export ASAN_OPTIONS=handle_segv=0:handle_abort=0:detect_leaks=0:allocator_may_return_null=1:allow_user_poisoning=0 LSAN_OPTIONS=detect_leaks=0

# ---- The line: settings, and for each command what it must come to. verify isolates by itself, and
# verify-separate is that with --separate; bench stands for bench-plain and bench-isolate.
limit=60 op=conv dir=FWD problem=mb2ic4ih6oc4kh3ph1 impl=$name net=small.net images=500 trainer='' more='' needs='' time=0.005
for word in $settings; do declare "${word%%=*}=${word#*=}"; done
skip() {
    echo "$name: skipped, $1"
    [ "${BENCHCNN_REQUIRE_GPU:-0}" = 1 ] && exit 1 || exit 77
}
if [[ $name == cuda_* ]] && "$benchcnn" list --plugin "$so" 2>&1 | grep -q "✗ $name:"; then skip "there is no GPU"; fi
if [ "$needs" = gpu ] && ! nvidia-smi -L 2>/dev/null | grep -q 'GPU 0'; then skip "it needs a real GPU"; fi
declare -A want=() is_open=() is_luck=()
order=()
commands() { # WORD: the commands that it stands for
    case ${1%%[:?]*} in
    verify) echo verify-isolate ;;
    bench) echo bench-plain bench-isolate ;;
    *) echo "${1%%[:?]*}" ;;
    esac
}
for word in $wanted; do
    for command in $(commands "$word"); do
        [ -n "${want[$command]:-}" ] || order+=("$command")
        want[$command]=${word#*:}
    done
done
for word in $open; do
    for command in $(commands "$word"); do
        [ "${word%\?}" = "$word" ] && is_open[$command]=1 || is_luck[$command]=1
    done
done

# ---- One command.
arguments() { # COMMAND
    local words=(--plugin "$so") who=$impl
    [ "$1" != train ] || who+=${trainer:+:$trainer}
    [ "$1" = list ] || words+=(--impl "$who" --quiet)
    [ "$1" = peaks ] || [ "$1" = list ] || words+=(--out "$tmp/$1.jsonl")
    case $1 in
    verify-* | fuzz) words+=(--seed 1) ;;& # the same verdict in every run of the test
    verify-* | bench-*)
        words+=(--op "$op")
        [ "$op" = conv ] && words+=(--dir "$dir") && for p in ${problem//,/ }; do words+=(--problem "$p"); done ;;&
    bench-*) words+=(--min-time "$time" --max-time "${time}e1" --peaks none) ;;&
    verify-separate) words+=(--separate --isolate-limit 15) ;;
    *-isolate) words+=(--isolate --isolate-limit 15) ;;
    fuzz) words+=(--fuzz 40,8s --jobs 1 --op "$op" --dtype f32) ;;
    train | profile)
        words+=(--net "$here/$net" --data synthetic --images "$images,100" --batch 20)
        words+=(--optimizer "sgd,lr=0.05") ;;
    peaks) words+=(--threads 1 --min-time 0.0001) ;;
    esac
    [ "$1" = profile ] && words+=(--profile)
    [ "$1" = peaks ] || [ "$1" = list ] || words+=(${more:+"$more"})
    printf '%s\n' "${words[@]}"
}
marked() { grep -lsz "^$mark\$" /proc/[0-9]*/environ | cut -d/ -f3; }
# Kills by id what the command left behind, and says how many there were. What is just ending gets three seconds for that, on
# a machine that is busy.
sweep_up() {
    local pid count=0
    for _ in 1 2 3 4 5 6; do [ -z "$(marked)" ] || sleep 0.5; done
    for pid in $(marked); do kill -9 "$pid" 2>/dev/null && count=$((count + 1)); done
    echo $count
}
# The figure of IMPL in the records FILE.
figure() { grep -hF "\"kind\":\"conv\",\"impl\":\"$2\"" "$1" 2>/dev/null | grep -oE '"median_s":[^,]+' | head -1 | cut -d: -f2; }
# Says so if the figure is not honest work's: less than half of the honest plug-in's where both are timed, or than a third
# alone, three times in a row, for a core of a shared machine is twice as fast at times.
too_short() { # COMMAND
    local honest=honest words alone mine theirs
    [[ $name != cuda_* ]] || honest=cuda_honest
    [ "$name" != $honest ] || return
    alone=$(figure "$tmp/$1.jsonl" "$name")
    for _ in 1 2 3; do
        rm -rf "$tmp/both" && mkdir "$tmp/both"
        mapfile -t words < <(impl=$impl,$honest tmp=$tmp/both arguments "$1")
        timeout -k 5 "$limit" "$benchcnn" bench --plugin "$folder/$honest.so" "${words[@]}" </dev/null >"$tmp/both/$1" 2>&1
        mine=$(figure "$tmp/both/$1.jsonl" "$name") theirs=$(figure "$tmp/both/$1.jsonl" $honest)
        [ -z "$either" ] || [ -n "$mine" ] || return # caught this time
        awk "BEGIN { exit !(${theirs:-0} > 0 && ${mine:-0} >= ${theirs:-0} / 2 && ${alone:-0} >= ${theirs:-0} / 3) }" && return
    done
    echo "its figure is ${alone:-missing}, ${mine:-missing} beside honest work of ${theirs:-unknown} s"
}
# judge COMMAND STATUS: prints how the command was fooled, if it was.
judge() {
    local records=$tmp/$1.jsonl
    case $2 in 124 | 137) echo "it hangs" && return ;; esac
    [ "$left" -eq 0 ] || { echo "it leaves $left processes behind" && return; }
    ! grep -q $'\e' "$tmp/$1" || { echo "its text holds escape sequences" && return; }
    ! grep -qsE '":-?[0-9]+,[0-9]' "$records" || { echo "its records are no JSON" && return; }
    ! grep -qs '"impl":"forged"' "$records" || [ "$2" -ne 0 ] || { echo "its records hold one that nobody made" && return; }
    case $1:$2 in verify-*:0 | bench-*:0) # whose last record says that all is there
        { head -n 1 "$records" && tail -n 1 "$records"; } 2>/dev/null | grep -cE "\"kind\":\"(begin|end)\"" | grep -qx 2 ||
            { echo "records are lost" && return; } ;;
    esac
    ! grep -qE '[BC]{96}' "$tmp/$1" || { echo "it prints what lies behind a name" && return; }
    [ "$2" -lt 132 ] || { echo "the program crashes" && return; }
    if [ "${want[$1]%%:*}" -eq 0 ]; then
        [ "$2" -eq 0 ] || { echo "status $2, though its work there is honest" && return; }
        [[ $1 != bench-* ]] || too_short "$1"
        return
    fi
    [ "$2" -ne 0 ] || { echo "status 0" && return; }
    case $1 in bench* | train)
        grep -svF '"impl":"forged"' "$records" | # of which the command says that it did not write it
            grep -qE '"median_s":-?[0-9]|"kind":"epoch".*"seconds":-?[0-9]|"kind":"conv".*"state":"PASSED"' && echo "there is a figure" ;;
    esac
}

failed=0 caught=() missed=()
fail() {
    echo "FAILED: $name, $1"
    tail -n 25 "$tmp/$command" | cut -c 1-400 | cat -v | sed 's/^/    /'
    failed=1
}
program() { case $1 in verify-* | fuzz) echo verify ;; bench-*) echo bench ;; profile) echo train ;; *) echo "$1" ;; esac; }
for command in "${order[@]}"; do
    mapfile -t words < <(arguments "$command")
    { env "$mark" timeout -k 5 "$limit" "$benchcnn" "$(program "$command")" "${words[@]}" </dev/null; } >"$tmp/$command" 2>&1
    status=$?
    left=$(sweep_up)
    either=
    case ${want[$command]} in # of the two, the one that this run came to
    0/1:*) either=yes && [ "$status" -eq 1 ] && want[$command]=1:${want[$command]#0/1:} || want[$command]=0 ;;
    esac
    fooled=$(judge "$command" $status)
    [ -z "$fooled" ] && caught+=("$command") || missed+=("$command")
    IFS=: read -r expected pattern <<<"${want[$command]}"
    # Of a cheat that is wrong in some runs: the one that is found may be the last of its sample or an earlier one.
    [ "$pattern" = wrong.in.some.run ] && pattern='leaves its bound|of an earlier run of a timed sample'
    if [ -n "${is_luck[$command]:-}" ]; then
        echo "$name, $command: ${fooled:-caught} (status $status; either may be)"
    elif [ -n "${is_open[$command]:-}" ]; then
        [ -n "$fooled" ] && echo "$name, $command: not caught yet: $fooled" && continue
        fail "$command: caught now (status $status): take it out of the last column of its line in tests/cheats/list"
    elif [ -n "$fooled" ]; then
        fail "$command: FOOLED: $fooled (status $status)"
    elif [ "$status" -ne "$expected" ]; then
        fail "$command: status $status instead of $expected"
    elif [ -n "$pattern" ] && ! grep -qE -- "$pattern" "$tmp/$command"; then
        fail "$command: its text says nothing like '$pattern'"
    else
        echo "$name, $command: as it must be (status $status)"
    fi
done
# shellcheck source=tests/cheats/row.sh
[ -z "$row" ] || . "$here/row.sh" >>"$row"
exit $failed
