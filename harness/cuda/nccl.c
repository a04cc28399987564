/* nccl.c: gradients of several processes, a GPU each, added up by NCCL on the context's stream; in a captured step the
 * sum is captured, too. The library is looked for when it is needed, so the program starts without it. It stays loaded:
 * a thread of its own waits for the other processes. */
#include "harness/cuda/cuda.h"

#include <dlfcn.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions that are called, by the types that its header gives them. */
#define CALLS(X)                                                                                                       \
    X(ncclGetUniqueId)                                                                                                 \
    X(ncclCommInitRank)                                                                                                \
    X(ncclCommDestroy)                                                                                                 \
    X(ncclAllReduce)                                                                                                   \
    X(ncclGetErrorString)                                                                                              \
    X(ncclGetLastError)

typedef struct nccl {
#define X(name) __typeof__(&name) name;
    CALLS(X)
#undef X
} nccl;

struct cnn_comm {
    nccl library;
    ncclComm_t comm;
};

static cnn_status open_nccl(nccl *n, cnn_error *err)
{
    char name[32];
    (void)snprintf(name, sizeof name, "libnccl.so.%d", NCCL_MAJOR);
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL)
        return CNN_FAIL(err, CNN_UNSUPPORTED,
                        "ranks on GPUs add up by NCCL, and %s is not found: install it or add its folder to "
                        "LD_LIBRARY_PATH",
                        name);
#define X(call)                                                                                                        \
    *(void **)&n->call = dlsym(handle, #call);                                                                         \
    if (n->call == NULL) return CNN_FAIL(err, CNN_UNSUPPORTED, "%s has no %s", name, #call);
    CALLS(X)
#undef X
    return CNN_OK;
}

static cnn_status check(const nccl *n, ncclResult_t result, const char *call, cnn_error *err)
{
    if (result == ncclSuccess) return CNN_OK;
    const char *last = n->ncclGetLastError(NULL);
    return CNN_FAIL(err, CNN_DEVICE, "%s: %s%s%.300s", call, n->ncclGetErrorString(result),
                    last != NULL && last[0] != '\0' ? ": " : "", last != NULL ? last : "");
}

static cnn_status comm_id(void *id, cnn_error *err)
{
    nccl n;
    const cnn_status status = open_nccl(&n, err);
    return status == CNN_OK ? check(&n, n.ncclGetUniqueId((ncclUniqueId *)id), "ncclGetUniqueId", err) : status;
}

static cnn_status comm_open(cnn_context *context, const void *id, int rank, int size, cnn_comm **result, cnn_error *err)
{
    ncclUniqueId group;
    cnn_comm *c = calloc(1, sizeof *c);
    if (c == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a group of ranks");
    memcpy(&group, id, sizeof group);
    cnn_status status = open_nccl(&c->library, err);
    if (status == CNN_OK) status = cuda_enter(cuda_context_of(context), err);
    if (status == CNN_OK)
        status = check(&c->library, c->library.ncclCommInitRank(&c->comm, size, group, rank), "ncclCommInitRank", err);
    if (status == CNN_OK)
        *result = c;
    else
        free(c);
    return status;
}

static void comm_close(cnn_context *context, cnn_comm *c)
{
    cnn_error ignored;
    if (cuda_enter(cuda_context_of(context), &ignored) == CNN_OK) (void)c->library.ncclCommDestroy(c->comm);
    free(c);
}

static cnn_status comm_sum(cnn_context *context, cnn_comm *c, void *buffer, int64_t count, cnn_dtype dtype,
                           cnn_error *err)
{
    cuda_context *on = cuda_context_of(context);
    const ncclDataType_t type = dtype == CNN_F32 ? ncclFloat32 : ncclFloat64;
    if (cuda_enter(on, err) != CNN_OK) return err->status;
    (void)snprintf(on->last_kernel, sizeof on->last_kernel, "ncclAllReduce");
    return check(&c->library,
                 c->library.ncclAllReduce(buffer, buffer, (size_t)count, type, ncclSum, c->comm, on->stream),
                 "ncclAllReduce", err);
}

const cnn_comms cuda_comms = {sizeof(ncclUniqueId), comm_id, comm_open, comm_close, comm_sum};
