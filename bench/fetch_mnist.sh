#!/bin/sh
# fetch_mnist.sh FOLDER: what `benchcnn data fetch` runs: MNIST's four files, with curl or wget, whichever the machine has.
#
# A file is fetched under a temporary name. It gets its own name only when the SHA-256 of its unpacked content is right
# (mirrors pack the same bytes in different ways): an interrupted, wrong or forged download never passes for the data. Servers
# are asked over https, and may send elsewhere over https alone. $BENCHCNN_MNIST_URL names another server, https or not.
#
# What is wrong is said in a line on standard output, with status 2; 3: a program is missing; 130: interrupted.
set -u
folder=$1 part=''
fail() { # STATUS MESSAGE
    echo "$2"
    exit "$1"
}
drop() { [ -z "$part" ] || rm -f -- "$part"; }
trap drop EXIT
trap 'fail 130 "fetching MNIST was interrupted"' INT TERM
for program in gzip sha256sum; do
    command -v $program >/dev/null || fail 3 "$program is not installed, and downloads are verified with it: apt-get install gzip coreutils"
done

check() { # FILE NAME BYTES SUM: a plain file or a packed one; no more of it is unpacked than there should be, and a byte
    sum=$(gzip -cdf <"$1" 2>/dev/null | head -c $(($3 + 1)) | sha256sum)
    [ "${sum%% *}" = "$4" ] && return
    wrong="$1: its unpacked content has the SHA-256 ${sum%% *}, but MNIST's $2 has $4: remove it, or name another server by \$BENCHCNN_MNIST_URL"
    return 1
}
# curl -q: no ~/.curlrc. A mirror may be asked as it is named; wherever it sends, it is https.
download() { # URL
    case $1 in https://*) named='=https' ;; *) named='=https,http,file' ;; esac
    if command -v curl >/dev/null; then
        curl -q -fsSL --proto "$named" --proto-redir =https --max-filesize 67108864 -o "$part" --url "$1"
    elif command -v wget >/dev/null; then
        wget -q --max-redirect=0 -O "$part" "$1"
    else
        fail 3 "neither curl nor wget is installed: install one (apt-get install curl), or put the four files into the folder by hand"
    fi
    code=$?
    [ $code -eq 0 ] && return
    wrong="the data could not be fetched (exit status $code): $1"
    return 1
}
try() { # SERVER NAME BYTES SUM
    download "$1/$2.gz" && check "$part" "$2" "$3" "$4" && mv -- "$part" "$folder/$2.gz"
}
fetch() { # NAME BYTES SUM
    for there in "$folder/$1" "$folder/$1.gz"; do
        [ -e "$there" ] || continue
        check "$there" "$@" && return
        fail 2 "$wrong"
    done
    part=$folder/$1.part$$
    if [ -n "${BENCHCNN_MNIST_URL:-}" ]; then
        try "$BENCHCNN_MNIST_URL" "$@" && return
    else
        try https://ossci-datasets.s3.amazonaws.com/mnist "$@" && return
        try https://storage.googleapis.com/cvdf-datasets/mnist "$@" && return
    fi
    fail 2 "$wrong"
}
fetch train-images-idx3-ubyte 47040016 ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db
fetch train-labels-idx1-ubyte 60008 65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5
fetch t10k-images-idx3-ubyte 7840016 0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7
fetch t10k-labels-idx1-ubyte 10008 ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2
