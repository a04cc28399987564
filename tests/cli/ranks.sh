# shellcheck shell=bash disable=SC2034,SC2054,SC2154  # variables are theirs or cli.sh's; commas are an option's
# ranks.sh, sourced by the tests over ranks: a network and its arguments, how ranks are started, what is compared.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli.sh"
cc=$2 mpi=$3 mpirun=$4
printf 'input 1 8 8\nconv 4 kernel=3 stride=2 pad=1\nrelu\ndropout 0.2\nfc 10\nsoftmax_cross_entropy\n' >"$tmp/small.net"
common=(train --net "$tmp/small.net" --data synthetic --images 400,100 --batch 60 --epochs 2 --threads 1 --quiet)

[ "$mpi" != ON ] || [ -x "$mpirun" ] || { echo "no mpirun" && exit 77; }
# Open MPI as root, with more ranks than cores, and without its second of patience for each rank that it ends; MPI and its
# libraries keep what they have until the end.
export OMPI_MCA_odls_base_sigkill_timeout=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

# Work in pieces is any work: under a sanitizer, what takes least of it.
few_ops=() some=cpu:naive,cpu:direct
[ -z "${TEST_SANITIZED:-}" ] || { few_ops=(--op act,pool) && some=cpu:direct; }

ranks() { # NUMBER ARGUMENTS...: the program on so many ranks
    local number=$1
    shift
    timeout 60 "$mpirun" -n "$number" "$benchcnn" "$@" >"$tmp/out" 2>"$tmp/err"
}

# ---- Curves.
losses() { grep -h '"kind":"losses"' "$1" | grep -o '\[[^]]*\]' | tr -d '[]' | tr ',' '\n'; }
tested() { grep -h '"kind":"epoch"' "$1" | grep -o '"test_loss":[^,]*' | cut -d: -f2; }
# close_to WHAT A B SHARE: two lists of numbers, as long, each within a share of the other.
close_to() {
    paste "$2" "$3" | awk -v share="$4" 'NF != 2 || !(($1 - $2) ^ 2 <= (share * $1) ^ 2) {bad = 1} END {exit bad || NR == 0}' ||
        fail "$1: losses differ: $(paste "$2" "$3" | tr '\n' ';')"
}

# ---- Pieces.
# What records of a kind tell, but for who made them, sorted; the counts of random cases.
told() { # KIND FILE
    grep "^{\"kind\":\"$1\"" "$2" | sed -E 's/,"host":.*/}/; s/"threads":[0-9]+,//; s/ --threads [0-9]+//; s/"number":[0-9]+,//' | sort
}
counts() { grep '^{"kind":"fuzz"' "$1" | sort; }
count() { grep -c "^{\"kind\":\"$2\"" "$1" 2>/dev/null; }
same() { # WHAT ONE OTHER: two texts
    [ -n "$2" ] || fail "$1: there is nothing"
    [ "$2" = "$3" ] || fail "$1: $(diff <(echo "$2") <(echo "$3") | head -4)"
}
# The tallies, without the time they took.
tallies() { grep -E '^[0-9]+ (of [0-9]+ )?cases:' "$1" | sed 's/, [0-9.]* s)/)/'; }
