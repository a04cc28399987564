/* direct_avx2.c: the direct convolution's kernels for AVX2 and FMA: 16 registers of 32 bytes. */
#define VBYTES 32
#define ISA direct_avx2
#define MAX_UNITS 6
#define UNITS(X) X(1) X(2) X(3) X(4) X(5) X(6)
#define MAX_OS 4
#define MAX_CS 3
#define MAX_OS1 8
#define ROW(X, no) X(no, 1) X(no, 2) X(no, 3)
#define OUTERS(X) ROW(X, 1) ROW(X, 2) ROW(X, 3) ROW(X, 4) X(5, 1) X(6, 1) X(7, 1) X(8, 1)
#include "direct_isa.inc"
