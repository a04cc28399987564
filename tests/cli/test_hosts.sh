#!/usr/bin/env bash
# test_hosts.sh BENCHCNN CC MPI MPIRUN: ranks of two hosts: two network namespaces with names of their own, one link
# between them, and an agent in the place of ssh. What one process does, who did it, and what a lost host leaves.
[ "$3" = ON ] || { echo "no MPI"; exit 77; }
"$4" --version 2>/dev/null | grep -qE '\((Open MPI|OpenRTE)\) 4\.' || { echo "the options here are those of Open MPI 4"; exit 77; }

# This process is the first host. All of it lies in namespaces of the test, so it ends with the test, however that ends.
apart=(unshare --net --uts --mount-proc --pid --fork --kill-child)
[ "$(id -u)" -eq 0 ] || apart+=(--user --map-root-user)
if [ -z "${TEST_HOSTS_APART:-}" ]; then
    why=$("${apart[@]}" sh -c 'ip link add veth0 type veth peer name veth1 && unshare --net --uts nsenter --version' 2>&1) ||
        { echo "no namespaces can be made here: $why"; exit 77; }
    TEST_HOSTS_APART=1 exec "${apart[@]}" "$0" "$@"
fi
trap 'exit 1' INT TERM # the first process of a namespace ignores them otherwise
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/ranks.sh"
export OPENBLAS_NUM_THREADS=1 # the sanitizers like no threads before a fork
export TMPDIR=$tmp            # what a launcher that is killed leaves
hostname first
ip link set lo up
unshare --net --uts sh -c 'hostname second; ip link set lo up; exec sleep 1000' &
second=$!
until [ "$(tr '\0' ' ' </proc/$second/cmdline)" = "sleep 1000 " ]; do sleep 0.01; done
of_second=(--ns "$second" --nslist uts)
name=$(basename "$benchcnn")
printf '#!/bin/sh\nshift\nexec nsenter --target %d --net --uts sh -c "$*"\n' "$second" >"$tmp/agent"
chmod +x "$tmp/agent"
connect() {
    local net=10.77.0
    ip link add veth0 type veth peer name veth0 netns "$second"
    ip addr add $net.1/24 dev veth0 && ip link set veth0 up
    nsenter --target "$second" --net sh -c "ip addr add $net.2/24 dev veth0 && ip link set veth0 up"
    export OMPI_MCA_oob_tcp_if_include=$net.0/24 OMPI_MCA_btl_tcp_if_include=$net.0/24
}
export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent=$tmp/agent OMPI_MCA_hwloc_base_binding_policy=none
# Both hosts have the same cores, of which the launcher knows nothing: a rank that waits leaves them to the others.
export OMPI_MCA_mpi_yield_when_idle=1
# Open MPI looks after five minutes whether a host that is silent is there.
export OMPI_MCA_oob_tcp_keepalive_time=1 OMPI_MCA_oob_tcp_keepalive_intvl=1 OMPI_MCA_oob_tcp_keepalive_probes=2
launch=(timeout 60 "$mpirun" --host 10.77.0.1:2,10.77.0.2:2 -n 4 "$benchcnn")
hosts() { # ARGUMENTS...: two ranks of each host
    "${launch[@]}" "$@" >"$tmp/out" 2>"$tmp/err"
}
curve() { # NAME: of two epochs of seven steps, of what is recorded under that name
    { losses "$tmp/$1.jsonl" | head -14; tested "$tmp/$1.jsonl" | head -2; } >"$tmp/$1.losses"
    [ "$(wc -l <"$tmp/$1.losses")" -eq 16 ] || fail "$1: not the losses of 14 steps and 2 tests"
}
connect || { echo "FAILED: no link between two hosts" && exit 1; }

# ---- Training: the curve of one process.
tests=$((tests + 1))
train=("${common[@]}" --impl cpu:direct --shift 1 --samples --epochs 6)
"$benchcnn" "${train[@]}" --out "$tmp/one.jsonl" >"$tmp/out" 2>"$tmp/err" || fail "one process: $(cat "$tmp/err")"
hosts "${train[@]}" --save "$tmp/two.st" --out "$tmp/two.jsonl" || fail "training on two hosts: $(cat "$tmp/err")"
curve one
curve two
close_to "two hosts" "$tmp/one.losses" "$tmp/two.losses" 1e-5
grep '"kind":"epoch"' "$tmp/two.jsonl" >"$tmp/epochs"
holds "a record of two hosts" "$tmp/epochs" '"verified":true|"rank_devices":{"0":"first: [^"]*","1":"first: [^"]*","2":"second: [^"]*","3":"second: [^"]*"}' -E

# ---- Work in pieces: the cases and tallies of one process; a record names its host. Rank 0 takes no cores: rank 1 has
# all of its host, 2 and 3 half of theirs each.
tests=$((tests + 2))
chosen=(verify --impl $some --op conv --check exact,bound --seed 5 --quiet)
random=(verify --impl cpu --check exact,bound --seed 7 --quiet --fuzz 640 "${few_ops[@]}")
for what in chosen random; do
    declare -n command=$what
    "$benchcnn" "${command[@]}" --out "$tmp/$what.jsonl" >"$tmp/$what" 2>"$tmp/err" || fail "one process: $(cat "$tmp/err")"
    hosts "${command[@]}" --out "$tmp/${what}4.jsonl" || fail "$what cases on two hosts: $(cat "$tmp/err")"
    same "$what cases, tallies" "$(tallies "$tmp/$what")" "$(tallies "$tmp/out")"
    made=$(grep -E '"kind":"(verify|case)"' "$tmp/${what}4.jsonl" | grep -o '"host":"[^"]*","rank":[0-9]*' | sort -u | tr '\n' ' ')
    same "who did $what cases" '"host":"first","rank":1 "host":"second","rank":2 "host":"second","rank":3 ' "$made"
done
same "chosen cases" "$(told verify "$tmp/chosen.jsonl")" "$(told verify "$tmp/chosen4.jsonl")"
same "random cases" "$(counts "$tmp/random.jsonl")" "$(counts "$tmp/random4.jsonl")"
half=$(($(nproc) > 1 ? $(nproc) / 2 : 1))
threads=$(grep '"kind":"env"' "$tmp/chosen4.jsonl" | sed -E 's/.*"threads":([0-9]+),.*"rank":([0-9]+).*/\2:\1/' | sort | tr '\n' ' ')
same "threads" "1:$(nproc) 2:$half 3:$half " "$threads"
"$benchcnn" merge "$tmp/chosen4.jsonl" --out "$tmp/merged.jsonl" >"$tmp/out" 2>&1 || fail "merge: $(cat "$tmp/out")"
holds "merge of two hosts" "$tmp/out" ' cases: |environment 1: |environment 2: |first: |second: '
grep -q 'environment 3' "$tmp/out" && fail "merge sees more than two hosts: $(cat "$tmp/out")"

# Figures are refused where two ranks time on the same core, as on one host in test_pieces.sh: here each has its own.
tests=$((tests + 1))
core=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
timeout 60 taskset -c "$core" "$mpirun" --host 10.77.0.1:2,10.77.0.2:1 -n 3 "$benchcnn" bench --impl cpu:naive --threads 1 \
    --problem mb2ic4ih8oc4kh3 --peaks none --min-time 0.001 --max-time 0.01 --warm-up 0 --quiet --out "$tmp/timed.jsonl" >"$tmp/out" 2>"$tmp/err" ||
    fail "a host each to time: $(cat "$tmp/err")"
same "who timed" '"first","rank":1 "second","rank":2 ' "$(grep '"kind":"env"' "$tmp/timed.jsonl" | sed -E 's/.*"host":("[^"]*","rank":[0-9]*).*/\1/' | sort -u | tr '\n' ' ')"

# ---- A host is lost: all end, with words, and the same command goes on.
done_before() { [ "$(count "$1" end)" -eq 1 ] || [ "$(count "$1" epoch)" -eq 6 ]; }
kill_daemon() { pkill -KILL "${of_second[@]}" orted; } # the ranks of its host are left alone, and must end
cut_link() { # while all stand still: the kernel takes its time
    pkill -STOP "${of_second[@]}" -x "$name"
    [ "$(nproc)" -lt 2 ] || done_before "$1" || own_cores
    ip link del veth0
    pkill -CONT "${of_second[@]}" -x "$name"
}
own_cores() { # each rank of a host has cores that the others of that host have not
    local host list
    for host in $$ "$second"; do
        list=$(for pid in $(pgrep --ns "$host" --nslist uts -x "$name"); do taskset -cp "$pid" | sed 's/.*: //'; done)
        [ "$(wc -w <<<"$list") $(sort -u <<<"$list" | wc -w)" = "2 2" ] || fail "not two ranks with cores of their own: $list"
    done
}
lose() { # HOW FILE KIND ARGUMENTS...: the second host, when the file holds a record; false where it came too late
    local how=$1 file=$2 kind=$3 launcher status
    shift 3
    rm -f "$file" "$tmp/c"
    hosts "$@" --out "$file" &
    launcher=$!
    for _ in $(seq 3000); do
        [ "$(count "$file" "$kind")" -ge 1 ] 2>/dev/null && break
        sleep 0.01
    done
    $how "$file"
    wait $launcher
    status=$?
    ip link show veth0 >/dev/null 2>&1 || connect
    done_before "$file" && return 1
    { [ $status -ne 0 ] && [ $status -ne 124 ]; } || fail "$how: status $status: $(cat "$tmp/err")"
    grep -qE 'lost communication|start one or more daemons|rank [0-9] of 4: stopped while' "$tmp/err" || fail "$how, without a word: $(cat "$tmp/err")"
    for _ in $(seq 100); do
        pgrep -x "$name" >/dev/null || break
        sleep 0.05
    done
    pgrep -x "$name" >/dev/null && fail "$how: ranks live on: $(pgrep -x "$name" | tr '\n' ' ')"
    return 0
}
lost() { # the same
    tests=$((tests + 1))
    for _ in 1 2 3 4 5; do lose "$@" && return; done
    fail "$1 came too late five times: $(cat "$tmp/err")"
}
lost kill_daemon "$tmp/lost.jsonl" case "${random[@]}"
hosts "${random[@]}" --out "$tmp/lost.jsonl" || fail "random cases do not go on: $(cat "$tmp/err")"
[ "$(grep -c '"state":"BLOCK"' "$tmp/lost.jsonl")" -eq 10 ] || fail "not ten blocks"
same "random cases that go on" "$(counts "$tmp/random.jsonl")" "$(counts "$tmp/lost.jsonl")"
same "their tallies" "$(tallies "$tmp/random")" "$(tallies "$tmp/out")"
lost cut_link "$tmp/lost.jsonl" epoch "${train[@]}" --checkpoint "$tmp/c" --save "$tmp/lost.st"
hosts "${train[@]}" --checkpoint "$tmp/c" --save "$tmp/lost.st" --out "$tmp/lost.jsonl" || fail "training does not go on: $(cat "$tmp/err")"
[ "$(count "$tmp/lost.jsonl" epoch)" -eq 6 ] || fail "$(count "$tmp/lost.jsonl" epoch) epochs, not 6"
cmp "$tmp/two.st" "$tmp/lost.st" || fail "other weights than without a lost host"
finish
