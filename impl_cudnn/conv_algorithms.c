/* conv_algorithms.c: from our names to cuDNN's numbers and back. */
#include "impl_cudnn/conv.h"

enum { NOTHING = 0, DETERMINISTIC = CNN_ALGO_DETERMINISTIC };
enum { CUDNN_CONVOLUTION_FWD_ALGO_NONE = CONV_NONE };
enum { CUDNN_CONVOLUTION_BWD_DATA_ALGO_NONE = CONV_NONE };
enum { CUDNN_CONVOLUTION_BWD_FILTER_ALGO_NONE = CONV_NONE };

typedef struct row {
    const char *name;
    int64_t id;
    uint32_t flags;
    double amplification;
    int algo[CNN_DIR_COUNT];
} row;

static const row rows[] = {
#define ALGORITHM(id, name, flags, amplification, fwd, bwd_d, bwd_w, doc)                                              \
    {name,                                                                                                             \
     CONV_##id,                                                                                                        \
     flags,                                                                                                            \
     amplification,                                                                                                    \
     {CUDNN_CONVOLUTION_FWD_ALGO_##fwd, CUDNN_CONVOLUTION_BWD_DATA_ALGO_##bwd_d,                                       \
      CUDNN_CONVOLUTION_BWD_FILTER_ALGO_##bwd_w}},
#include "impl_cudnn/conv_algorithms.inc"
#undef ALGORITHM
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const row *find(cnn_dir dir, int algo)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].algo[dir] == algo) return &rows[i];
    return NULL;
}

int conv_algo_of(int64_t id, cnn_dir dir)
{
    for (int i = 0; i < ROWS; i++)
        if (rows[i].id == id) return rows[i].algo[dir];
    return CONV_NONE;
}

void conv_algo_name(cnn_dir dir, int algo, char *name, size_t size)
{
    const row *r = find(dir, algo);
    if (r != NULL)
        snprintf(name, size, "%s", r->name);
    else
        snprintf(name, size, "algo %d", algo);
}

bool conv_algo_deterministic(cnn_dir dir, int algo)
{
    const row *r = find(dir, algo);
    return r != NULL && (r->flags & CNN_ALGO_DETERMINISTIC) != 0;
}

bool conv_algo_transforms(cnn_dir dir, int algo)
{
    const row *r = find(dir, algo);
    return r == NULL || (r->flags & CNN_ALGO_TRANSFORMS) != 0;
}

void conv_settled(cnn_dir dir, int algo, int64_t kh, int64_t kw, cnn_algorithm *algorithm)
{
    const row *r = find(dir, algo);
    if (r == NULL) return; /* one that we have no name for: the promise stays */
    const bool small = r->id == CONV_WINOGRAD_NONFUSED && kh <= 3 && kw <= 3;
    if ((r->flags & CNN_ALGO_TRANSFORMS) == 0) algorithm->flags &= ~(uint32_t)CNN_ALGO_TRANSFORMS;
    algorithm->amplification = small ? AMPLIFICATION_6X6 : r->amplification;
}
