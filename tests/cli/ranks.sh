# shellcheck shell=bash disable=SC2034,SC2054,SC2154  # variables are theirs or cli.sh's; commas are an option's
# ranks.sh, sourced by the tests of training over ranks: their arguments, a network, how ranks are started.
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

ranks() { # NUMBER ARGUMENTS...: the program on so many ranks
    local number=$1
    shift
    timeout 60 "$mpirun" -n "$number" "$benchcnn" "$@" >"$tmp/out" 2>"$tmp/err"
}
