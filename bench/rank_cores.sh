#!/usr/bin/env bash
# rank_cores.sh COMMAND...: started by mpirun as each rank of a host: gives rank 0 most of the cores, and each other rank a few.
# Training on GPUs needs few: but rank 0 computes steps again in float64, alone, and with most of the cores it is done sooner.
#   mpirun --bind-to none -n 4 bench/rank_cores.sh benchcnn train --net thesis --impl cuda_naive
rank=${OMPI_COMM_WORLD_LOCAL_RANK:-0} others=$((${OMPI_COMM_WORLD_LOCAL_SIZE:-1} - 1)) cores=$(nproc)
few=$((cores >= 16 * (others + 1) ? 4 : 1)) # of each other rank
mine="$((cores - rank * few))-$((cores - rank * few + few - 1))"
[ "$rank" -gt 0 ] || mine="0-$((cores - others * few - 1))"
if [ "$others" -gt 0 ] && taskset -c "$mine" true 2>/dev/null; then exec taskset -c "$mine" "$@"; fi
exec "$@" # too few cores, or others than those from 0 on: they are shared out evenly
