/* pieces.h: loops over the elements of large arrays, a piece a task, on the threads of a pool (NULL: on the caller's).
 * How an array is cut depends on its length alone. So what is drawn and what is added up is the same for any number of
 * threads. As parallel_for(), not from within a task of the same pool. */
#ifndef VERIFY_ORACLE_PIECES_H
#define VERIFY_ORACLE_PIECES_H

#include "harness/base/rng.h"
#include "harness/cpu/threads.h"

/* Elements `first` to `last` - 1 of `count`. */
typedef void vf_piece(void *user, int64_t first, int64_t last);
void vf_pieces(thread_pool *pool, int64_t count, vf_piece *each, void *user);

/* Random values: each element takes `draws` numbers from the generator, which is advanced by all of them. The values
 * are those of one loop over all elements. VF_ANY_DRAWS: they take as many as they like; the first piece has the
 * generator's numbers, every other one a stream of its own, and the generator is not advanced. */
enum { VF_ANY_DRAWS = 0 };
typedef void vf_draw(void *user, int64_t first, int64_t last, cnn_rng *rng);
void vf_draw_pieces(thread_pool *pool, int64_t count, int draws, cnn_rng *rng, vf_draw *each, void *user);

/* A result of each piece, joined to the whole in the order of the elements. */
enum { VF_PART_MOST = 192 }; /* bytes of such a result */
typedef struct vf_gathering {
    void (*each)(void *user, int64_t first, int64_t last, void *part); /* part: all zeros at first */
    void (*join)(void *user, const void *part);
    void *user;
} vf_gathering;
void vf_gather_pieces(thread_pool *pool, int64_t count, const vf_gathering *gathering);

/* The largest |value|, NaN if there is one; and the largest value that is no NaN. 0 of none. */
double vf_largest_size(thread_pool *pool, const double *values, int64_t count);
double vf_largest(thread_pool *pool, const double *values, int64_t count);

#endif
