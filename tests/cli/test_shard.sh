#!/usr/bin/env bash
# test_shard.sh BENCHCNN: --shard I/N: all N shards together do what one process does, each case once.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"

refused "--shard is '0/3'|1/N to N/N" verify --seed 1 --shard 0/3
refused "--shard is '4/3'" verify --seed 1 --shard 4/3
refused "--shard is '3'" bench --shard 3
refused "--shard is '1/'" bench --shard 1/
refused "--shard is '1/2x'" sweep threads --shard 1/2x
refused "--shard is '1/99999999'" bench --shard 1/99999999
refused "--shard 1/3 needs --seed|all 3 shards" verify --shard 1/3
refused "--shard 1/3 needs --seed" verify --fuzz 10 --shard 1/3
refused "takes no --shard" train --shard 1/3

# What a record tells, without what a shard adds: sorted, so that only which there are counts.
told() { # KIND FILE...
    local kind=$1
    shift
    cat "$@" | grep "^{\"kind\":\"$kind\"" | sed -E 's/,"(shard|host)":"[^"]*"//g; s/"number":[0-9]+,//' | sort
}
# The counts behind "cases:" of each file, added up: "FAILED 0 PASSED 12 ...".
tallies() {
    cat "$@" | sed -n 's/^[0-9]* \(of [0-9]* \)\{0,1\}cases: \(.*\) (seed.*/\2/p' | tr ',' ' ' | xargs -n2 |
        awk '{n[$2] += $1} END {for (s in n) print s, n[s]}' | sort
}
in_shards() { # NAME N ARGUMENTS...: the whole into $tmp/NAME.*, the shards into $tmp/NAME1.* ...; each ends with $wanted
    local name=$1 n=$2 i
    shift 2
    tests=$((tests + 1))
    "$benchcnn" "$@" --out "$tmp/$name.jsonl" >"$tmp/$name.log" 2>"$tmp/$name.err" || [ $? -eq "$wanted" ] || fail "$name: $(cat "$tmp/$name.err")"
    for i in $(seq "$n"); do
        "$benchcnn" "$@" --shard "$i/$n" --out "$tmp/$name$i.jsonl" >"$tmp/$name$i.log" 2>"$tmp/$name$i.err"
        local status=$?
        [ $status -eq 0 ] || [ $status -eq "$wanted" ] || fail "$name, shard $i: status $status: $(cat "$tmp/$name$i.err")"
        [ "$(grep -c "\"shard\":\"$i/$n\",\"host\":\"" "$tmp/$name$i.jsonl")" -eq "$(wc -l <"$tmp/$name$i.jsonl")" ] ||
            fail "$name: a record of shard $i does not say so"
    done
}
alike() { # NAME KIND...: the shards have the records of the whole
    local name=$1 kind
    shift
    for kind in "$@"; do
        [ "$(told "$kind" "$tmp/$name.jsonl" | wc -l)" -gt 3 ] || fail "$name: hardly a record of $kind"
        diff <(told "$kind" "$tmp/$name.jsonl") <(told "$kind" "$tmp/$name"[0-9].jsonl) >"$tmp/diff" ||
            fail "$name: the shards have other records of $kind: $(head -5 "$tmp/diff")"
    done
    [ "$(tallies "$tmp/$name.log")" = "$(tallies "$tmp/$name"[0-9].log)" ] ||
        fail "$name: tallies of shards: $(tallies "$tmp/$name"[0-9].log), of one: $(tallies "$tmp/$name.log")"
}

# Chosen problems, a word that is none (status 2) and one that is too odd for an implementation among them.
printf 'mb2ic4ih8oc4kh3\nmb2icxih8\nmb1ic3ih7oc5kh3sh2ph1\n--conv3d ic2id4ih4oc3kd2kh3\nmb3ic2ih5oc2kh1\n' >"$tmp/problems"
wanted=2
in_shards chosen 3 verify --impl cpu:naive,cpu:direct --problems "$tmp/problems" --check exact,bound --seed 5 --quiet
alike chosen verify case
for i in 1 2 3; do grep -q PASSED "$tmp/chosen$i.jsonl" || fail "shard $i verified nothing"; done

# Random ones. A digest is the sum of a hash of each case: number, descriptor, direction, types, threads, state.
wanted=0
in_shards random 3 verify --impl cpu --fuzz 100 --seed 7 --quiet
[ "$(tallies "$tmp/random.log")" = "$(tallies "$tmp"/random[0-9].log)" ] || fail "tallies of random cases: $(tallies "$tmp"/random[0-9].log)"
rows() { # FILE...: of each algorithm and operation its counts and its digest, added up
    cat "$@" | grep '^{"kind":"fuzz"' |
        sed -E 's/.*"impl":"([^"]*)","algorithm":"([^"]*)","op":"([^"]*)".*"unsupported":([0-9]*),"skipped":([0-9]*),"passed":([0-9]*),"mistrusted":([0-9]*),"failed":([0-9]*),"digest":"([0-9a-f]{16})".*/\1:\2:\3 \4 \5 \6 \7 \8 16#\9/' |
        {
            declare -A sums
            while read -r name counts; do
                read -ra each <<<"$counts"
                read -ra before <<<"${sums[$name]:-0 0 0 0 0 0}"
                for k in "${!each[@]}"; do before[k]=$((before[k] + each[k])); done # modulo 2^64
                sums[$name]="${before[*]}"
            done
            for name in "${!sums[@]}"; do echo "$name ${sums[$name]}"; done | sort
        }
}
rows "$tmp/random.jsonl" >"$tmp/one"
rows "$tmp"/random[0-9].jsonl >"$tmp/three"
[ "$(wc -l <"$tmp/one")" -gt 8 ] || fail "hardly a row of random cases: $(cat "$tmp/one")"
diff "$tmp/one" "$tmp/three" >"$tmp/diff" || fail "random cases of shards: $(head -4 "$tmp/diff")"

# Figures: every case once, all of its repetitions by the same shard.
printf 'mb2ic4ih8oc4kh3\nmb2icxih8\nmb1ic3ih7oc5kh3sh2ph1\n' >"$tmp/problems"
short=(--peaks none --min-time 0.001 --max-time 0.01 --warm-up 0 --quiet)
figures() { cat "$@" | grep -o '"problem":"[^"]*","bias":true,"mode":"[a-z_]*","dir":"[A-Z_]*"' | sort; }
wanted=2
in_shards timed 3 bench --impl cpu:naive --problems "$tmp/problems" --repeat 2 "${short[@]}"
[ "$(figures "$tmp/timed.jsonl" | wc -l)" -eq 12 ] || fail "not 12 figures: $(figures "$tmp/timed.jsonl")"
[ "$(figures "$tmp/timed.jsonl")" = "$(figures "$tmp"/timed[0-9].jsonl)" ] || fail "shards time something else: $(figures "$tmp"/timed[0-9].jsonl)"
for i in 1 2 3; do [ "$(figures "$tmp/timed$i.jsonl" | uniq -c | grep -vc '^ *2 ')" -eq 0 ] || fail "shard $i has not both times of a figure"; done
[ "$(cat "$tmp"/timed[0-9].err | grep -c '^REFUSED')" -eq 1 ] || fail "a bad word is told by more than one shard"
wanted=0
in_shards swept 3 sweep algorithm --impl cpu:naive,cpu:direct --problem mb2ic4ih8oc4kh3 --problem mb1ic3ih7oc5kh3 "${short[@]}"
[ "$(figures "$tmp/swept.jsonl" | wc -l)" -ge 12 ] || fail "hardly a point: $(figures "$tmp/swept.jsonl")"
[ "$(figures "$tmp/swept.jsonl")" = "$(figures "$tmp"/swept[0-9].jsonl)" ] || fail "shards sweep something else"

# A shard without a case is no error; a run without one is what it was.
empty() { # WORDS ARGUMENTS...
    local words=$1
    shift
    tests=$((tests + 1))
    "$benchcnn" "$@" --shard 9/9 >"$tmp/out" 2>"$tmp/err" || fail "an empty shard of '$*' ends with $?: $(cat "$tmp/err")"
    holds "an empty shard of '$*'" "$tmp/err" "shard 9/9 has no case|$words"
}
one=(--impl cpu:naive --problem mb2ic4ih8oc4kh3 --dir FWD)
empty 'there is 1 in all' verify "${one[@]}" --seed 1
empty 'there are 4 in all' verify --impl cpu --fuzz 4 --seed 1
empty 'there is 1 in all' bench "${one[@]}" "${short[@]}"
empty 'there is 1 in all' sweep algorithm "${one[@]}" "${short[@]}"
"$benchcnn" verify --impl cpu:direct --op optimizer --dir BWD_W --seed 1 --shard 1/2 >/dev/null 2>&1
[ $? -eq 3 ] || fail "a run without any case does not end with 3"

# Stopped in its midst, a shard goes on with its own cases.
part=(verify --impl cpu:naive,cpu:direct --op conv --check exact --seed 3 --shard 2/3 --quiet)
"$benchcnn" "${part[@]}" --out "$tmp/part.jsonl" >"$tmp/log" 2>&1
cut=$(grep -n '"kind":"case"' "$tmp/part.jsonl" | sed -n 7p | cut -d: -f1)
head -"$((cut + 1))" "$tmp/part.jsonl" >"$tmp/cut.jsonl"
sed -i "s|$tmp/part.jsonl|$tmp/cut.jsonl|" "$tmp/cut.jsonl"
"$benchcnn" "${part[@]}" --out "$tmp/cut.jsonl" >"$tmp/log" 2>&1 || fail "a shard does not go on: $(tail -3 "$tmp/log")"
holds "a shard that goes on" "$tmp/log" '7 cases were finished before'
diff <(told verify "$tmp/part.jsonl") <(told verify "$tmp/cut.jsonl") >"$tmp/diff" || fail "a shard that goes on has other records: $(head -4 "$tmp/diff")"
finish
