#!/bin/sh
# fetch_data.sh mnist|cifar10 FOLDER: what `benchcnn data fetch` runs: MNIST's four files or CIFAR-10's six, with curl or wget,
# whichever the machine has.
#
# A file is fetched under a temporary name. It gets its own name only when the SHA-256 of its unpacked content is right
# (mirrors pack the same bytes in different ways): an interrupted, wrong or forged download never passes for the data. Servers
# are asked over https, and may send elsewhere over https alone. $BENCHCNN_MNIST_URL and $BENCHCNN_CIFAR10_URL name another
# server, https or not.
#
# What is wrong is said in a line on standard output, with status 2; 3: a program is missing; 130: interrupted.
set -u
set_name=$1 folder=$2 part='' unpacked=''
fail() { # STATUS MESSAGE
    echo "$2"
    exit "$1"
}
drop() {
    [ -z "$part" ] || rm -f -- "$part"
    [ -z "$unpacked" ] || rm -rf -- "$unpacked"
}
trap drop EXIT
trap 'fail 130 "fetching the data was interrupted"' INT TERM
for program in gzip tar sha256sum; do
    command -v $program >/dev/null || fail 3 "$program is not installed, and downloads are verified with it: apt-get install gzip tar coreutils"
done
case $set_name in
mnist) title=MNIST variable=BENCHCNN_MNIST_URL server=${BENCHCNN_MNIST_URL:-} ;;
cifar10) title=CIFAR-10 variable=BENCHCNN_CIFAR10_URL server=${BENCHCNN_CIFAR10_URL:-} ;;
*) fail 2 "there is no data set '$set_name' to fetch: expected mnist or cifar10" ;;
esac

check() { # FILE NAME BYTES SUM: a plain file or a packed one; no more of it is unpacked than there should be, and a byte
    sum=$(gzip -cdf <"$1" 2>/dev/null | head -c $(($3 + 1)) | sha256sum)
    [ "${sum%% *}" = "$4" ] && return
    wrong="$1: its unpacked content has the SHA-256 ${sum%% *}, but $title's $2 has $4: remove it, or name another server by \$$variable"
    return 1
}
# curl -q: no ~/.curlrc. A mirror may be asked as it is named; wherever it sends, it is https.
download() { # URL
    case $1 in https://*) named='=https' ;; *) named='=https,http,file' ;; esac
    if command -v curl >/dev/null; then
        curl -q -fsSL --proto "$named" --proto-redir =https --max-filesize 268435456 -o "$part" --url "$1"
    elif command -v wget >/dev/null; then
        wget -q --max-redirect=0 -O "$part" "$1"
    else
        fail 3 "neither curl nor wget is installed: install one (apt-get install curl), or put the files into the folder by hand"
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
    if [ -n "$server" ]; then
        try "$server" "$@" && return
    else
        try https://ossci-datasets.s3.amazonaws.com/mnist "$@" && return
        try https://storage.googleapis.com/cvdf-datasets/mnist "$@" && return
    fi
    fail 2 "$wrong"
}
# The files come in one archive. It is fetched where one of them is missing, unpacked once its own checksum is right, and only
# what is missing is taken of it.
fetch_cifar10() { # ARCHIVE SUM NAMES-AND-SUMS
    missing=''
    while read -r name sum; do
        if [ ! -e "$folder/$name" ]; then
            missing="$missing $name"
        elif ! check "$folder/$name" "$name" 30730000 "$sum"; then
            fail 2 "$wrong"
        fi
    done <<END
$3
END
    [ -n "$missing" ] || return 0
    part=$folder/$1.part$$ unpacked=$folder/unpacked$$
    download "${server:-https://www.cs.toronto.edu/~kriz}/$1" || fail 2 "$wrong"
    sum=$(sha256sum <"$part")
    [ "${sum%% *}" = "$2" ] ||
        fail 2 "$1: it has the SHA-256 ${sum%% *}, but $title's has $2: name another server by \$$variable"
    if ! mkdir -- "$unpacked" || ! tar -xzf "$part" -C "$unpacked"; then
        fail 2 "$folder: the archive cannot be unpacked there"
    fi
    for name in $missing; do
        mv -- "$unpacked/cifar-10-batches-bin/$name" "$folder/$name" || fail 2 "$folder/$name: cannot be put there"
    done
}
if [ "$set_name" = cifar10 ]; then
    fetch_cifar10 cifar-10-binary.tar.gz c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd \
        "data_batch_1.bin cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5
data_batch_2.bin a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed
data_batch_3.bin bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67
data_batch_4.bin 014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48
data_batch_5.bin 755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add
test_batch.bin 8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"
    exit
fi
fetch train-images-idx3-ubyte 47040016 ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db
fetch train-labels-idx1-ubyte 60008 65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5
fetch t10k-images-idx3-ubyte 7840016 0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7
fetch t10k-labels-idx1-ubyte 10008 ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2
