# beside.awk: of records of trainkernel_epochs.py, and of epochs of `benchcnn train` with the same networks and batches:
# microseconds of a training step of each, medians over their epochs, and how many times as fast as TrainKernel's ours are.
function of(key, text)
{
    text = $0
    if (!sub(".*\"" key "\": *", "", text)) return ""
    sub(text ~ /^\[/ ? "\\].*" : "[,}].*", "", text)
    gsub(/[]\["]/, "", text)
    return text
}

function median(list, values, n, i, j, swap)
{
    n = split(list, values, /[ ,]+/)
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && values[j - 1] + 0 > values[j] + 0; j--) {
            swap = values[j]
            values[j] = values[j - 1]
            values[j - 1] = swap
        }
    return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
}

function add(list, value) { return list == "" ? value : list " " value }

{ point = of("net") ", batch " of("batch") }

of("peer") == "trainkernel" {
    name = point SUBSEP of("dtype")
    if (!(name in theirs)) order[++rows] = name
    theirs[name] = add(theirs[name], of("seconds"))
    steps[point] = of("images") / of("batch")
}

of("kind") == "epoch" && of("verified") == "true" && of("train_s") != "null" {
    who = of("impl") ":" of("algorithm")
    if (!((point, who) in ours)) names[point] = add(names[point], who)
    ours[point, who] = add(ours[point, who], of("train_s"))
}

END {
    for (i = 1; i <= rows; i++) {
        split(order[i], at, SUBSEP)
        us = 1e6 / steps[at[1]]
        long = median(theirs[order[i]])
        printf "%-22s TrainKernel %-4s %9.2f us a step", at[1], at[2], us * long
        n = split(names[at[1]], whose, " ")
        for (k = 1; k <= n; k++) {
            here = median(ours[at[1], whose[k]])
            printf "; %s %9.2f, %.2f times as fast", whose[k], us * here, long / here
        }
        print ""
    }
}
