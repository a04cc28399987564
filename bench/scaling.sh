#!/usr/bin/env bash
# scaling.sh FILE.jsonl...: strong and weak scaling over ranks, of what `train` recorded with different numbers of them: a
# line a number of ranks, batch, implementation and network. $BENCHCNN: the program.
#   epoch s     the median of the epochs
#   strong      how many times as fast as one rank with the same batch
#   weak        how many times as fast as one rank with a batch of as many images a rank
#   efficiency  strong, by how many times as many GPUs, or threads of CPUs, there were
#   sums        the share of training that sums over ranks took, waits included; "alone": by what a sum takes alone
set -euo pipefail
[ $# -gt 0 ] || { sed -n '2,8s/^# //p' "$0" >&2 && exit 2; }
"${BENCHCNN:-build/release/benchcnn}" table "$@" --kind epochs --format csv 2>/dev/null | awk '
function fields(line,    n, text, quoted, c, i) { # a comma within quotes is no end
    n = 1; text = ""; quoted = 0
    sub(/\r$/, "", line)
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"") quoted = !quoted
        else if (c == "," && !quoted) { field[n++] = text; text = "" }
        else text = text c
    }
    field[n] = text
    return n
}
function of(name) { return field[column[name]] }
function median(key,    n, i, k, v, list) {
    n = split(seconds[key], list, " ")
    for (i = 2; i <= n; i++) { v = list[i] + 0; for (k = i - 1; k > 0 && list[k] + 0 > v; k--) list[k + 1] = list[k]; list[k + 1] = v }
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
function times(a, b) { return a > 0 ? sprintf("%.2f", a / b) : "-" }
NR == 1 { n = fields($0); for (i = 1; i <= n; i++) column[field[i]] = i; next }
{
    fields($0)
    ranks = of("ranks") == "" ? 1 : of("ranks")
    if (of("seconds") == "" || of("state") == "FAILED") next
    what = of("net") " " of("impl") ":" of("algorithm") " " of("dtype") " " of("layout") " " of("data_on")
    key = what " " of("batch") " " ranks
    if (!(key in seconds)) { keys[++count] = key; whats[key] = what; batch[key] = of("batch"); size[key] = ranks; threads[key] = of("threads") }
    seconds[key] = seconds[key] " " of("seconds")
    device[key] = of("comm_way") == "device"
    sum = of("comm_step_s") != "" ? of("comm_step_s") : of("comm_alone_s")
    if (sum != "" && of("train_s") > 0) share[key] = sprintf("%.1f %%%s", 100 * sum * of("train_images") / of("batch") / of("train_s"), of("comm_step_s") == "" ? " alone" : "")
}
END {
    printf "%-44s %7s %5s %9s %7s %7s %10s  %s\n", "", "batch", "ranks", "epoch s", "strong", "weak", "efficiency", "sums"
    for (i = 1; i <= count; i++) {
        key = keys[i]; n = size[key]; took = median(key)
        one = whats[key] " " batch[key] " 1"; part = whats[key] " " batch[key] / n " 1"
        a = one in seconds ? median(one) : 0; b = part in seconds ? median(part) : 0
        more = device[key] || !(one in threads) ? n : n * threads[key] / threads[one]
        printf "%-44s %7d %5d %9.4f %7s %7s %10s  %s\n", whats[key], batch[key], n, took, times(a, took), times(b, took),
            (a > 0 ? sprintf("%.0f %%", 100 * a / took / more) : "-"), (key in share ? share[key] : "-")
    }
    exit count == 0
}'
