/* roundings.h: the one table of tolerances: how many roundings an element may go through, operation by operation.
 *
 * Counted for the plain formula of cnn.h evaluated in the problem's dtype, with library functions good to 2 ulp (4
 * units of u each) and constants of the descriptor rounded once. What is summed over (taps, channels, images) comes on
 * top, element by element, in the reference. None of these was fitted to an implementation. */
#ifndef VERIFY_ORACLE_ROUNDINGS_H
#define VERIFY_ORACLE_ROUNDINGS_H

enum {
    VF_ROUND_AVERAGE = 2,    /* after the sum: 1/count or the division, and the product with it */
    VF_ROUND_LEAKY = 2,      /* alpha rounded, the product */
    VF_ROUND_ELU = 8,        /* exp 4, minus 1, alpha rounded, product; 1 to spare for the derivative's product */
    VF_ROUND_SIGMOID = 8,    /* exp 4, plus 1, division; backward: 1 - y, two products on a rounded y */
    VF_ROUND_TANH = 8,       /* tanh 4; backward: y*y, 1 - y*y, product on a rounded y */
    VF_ROUND_SOFTMAX = 6,    /* exp 4, division 2; plus the classes, plus |x - max| (relative error of e^(x-max)) */
    VF_ROUND_LOG = 4,        /* log */
    VF_ROUND_LOSS_GRAD = 3,  /* difference, scale rounded, product */
    VF_ROUND_DROPOUT = 3,    /* 1 - rate, its reciprocal, the product */
    VF_ROUND_BATCHNORM = 12, /* mean 1, difference, square, var 1, eps 1, root and reciprocal 4, two products, sum */
    VF_ROUND_BN_RUNNING = 6, /* n/(n-1), 1 - momentum, momentum, two products, sum */
    VF_ROUND_OPTIMIZER = 16  /* g, squared 1, decay rates 2, products 2, sum 1, root 1, division 2, lr 2, update 1 */
};

#endif
