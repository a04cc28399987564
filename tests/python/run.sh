#!/usr/bin/env bash
# run.sh MODULE_FOLDER TEST.py COMPILER [SANITIZERS]: a test of the Python module, in the first Python that has NumPy. The library is
# built with the program's sanitizers: their own libraries must be there before it.
set -u
folder=$1 test=$2 compiler=$3 sanitizers=${4:-}
python=
for each in /usr/bin/python3 python3; do
    [ -z "$python" ] && "$each" -c 'import numpy' 2>/dev/null && python=$each
done
if [ -z "$python" ]; then
    echo "Python 3 with NumPy is not installed (Debian, Ubuntu: apt-get install python3-numpy): the module is not tried"
    exit 77
fi
preload=
case $sanitizers in
*address*)
    for library in libasan.so libubsan.so; do
        path=$("$compiler" -print-file-name=$library)
        [ -e "$path" ] || { echo "$compiler has no $library to load before Python: the module is not tried" && exit 77; }
        preload+=" $(realpath "$path")"
    done
    ;;
esac
here=$(dirname "$test")
export PYTHONPATH=$folder:$here PYTHONDONTWRITEBYTECODE=1
# Python itself frees not all that it has; a signal of the harness's fences is the harness's, and so is a fault that a test makes.
LD_PRELOAD=${preload# } ASAN_OPTIONS=detect_leaks=0:allow_user_segv_handler=1:allow_user_poisoning=0 exec "$python" -W error::DeprecationWarning "$test"
