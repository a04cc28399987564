/* direct_avx512.c: the direct convolution's kernels for AVX-512: 32 registers of 64 bytes. A gather tile of 10 channels
 * x 2 blocks keeps 20 sums, a weights tile of 5 x 5 keeps 25: enough to hide the latency of two FMA units, at less than
 * one load for each FMA. */
#define VBYTES 64
#define ISA direct_avx512
#define MAX_UNITS 10
#define UNITS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10)
#define MAX_OS 5
#define MAX_CS 5
#define MAX_OS1 10
#define ROW(X, no) X(no, 1) X(no, 2) X(no, 3) X(no, 4) X(no, 5)
#define OUTERS(X) ROW(X, 1) ROW(X, 2) ROW(X, 3) ROW(X, 4) ROW(X, 5) X(6, 1) X(7, 1) X(8, 1) X(9, 1) X(10, 1)
#include "direct_isa.inc"
