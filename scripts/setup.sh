# shellcheck shell=bash
# setup.sh: sourced by demo.sh, test.sh and .ci/run: installs from the distribution what is not there yet; has CMake compile
# through ccache where that is installed.

# Debian's and Ubuntu's names of what benchcnn is built, tested and drawn with.
benchcnn_packages=(gcc g++ cmake ninja-build pkg-config libopenblas-dev zlib1g-dev libcjson-dev libcmocka-dev gnuplot-nox
    hyperfine)
# What an implementation, training over ranks, `benchcnn report` or the tests of the Python module are left out without: installed where the distribution has it.
benchcnn_optional_packages=(libdnnl-dev ocl-icd-opencl-dev libopenmpi-dev python3-jinja2 python3-numpy)

# What of the list is not installed.
missing_packages() {
    local package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}

install_missing() {
    local missing optional package sudo=()
    if ! command -v dpkg-query >/dev/null; then
        echo "This is neither Debian nor Ubuntu: please install the equivalents of ${benchcnn_packages[*]}" >&2
        return 0
    fi
    mapfile -t missing < <(missing_packages "${benchcnn_packages[@]}" "$@")
    mapfile -t optional < <(missing_packages "${benchcnn_optional_packages[@]}")
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    [ ${#missing[@]} -eq 0 ] || "${sudo[@]}" apt-get update -qq
    for package in "${optional[@]}"; do
        apt-cache show "$package" >/dev/null 2>&1 && missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    echo "Installing: ${missing[*]}"
    DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# For build folders that are configured anew. What the user has set stays; objects serve every folder of the sources.
use_ccache() {
    command -v ccache >/dev/null || return 0
    export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER-ccache}
    export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
    export CMAKE_CUDA_COMPILER_LAUNCHER=${CMAKE_CUDA_COMPILER_LAUNCHER-ccache}
    export CCACHE_BASEDIR=${CCACHE_BASEDIR-$PWD} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1}
}
