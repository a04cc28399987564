/* weights.h: a network's parameters in a file that other frameworks read (harness/data/safetensors.h).
 *
 * Names and shapes are PyTorch's, by the names of the network's layers, whatever the run's layout: conv1.weight (oc,
 * ic/g, kh, kw), fc1.weight (oc, ic*ih*iw), .bias; of batch norm weight (gamma), bias (beta), running_mean,
 * running_var. Nothing in the file depends on batch size, optimizer or implementation. */
#ifndef HARNESS_NET_WEIGHTS_H
#define HARNESS_NET_WEIGHTS_H

#include "net.h"

typedef struct weights_facts {
    double mean;       /* that was taken off the images' pixels (dataset.h); NaN where the file does not say */
    double *means;     /* of each input channel, where they differ; else NULL. Of weights_load(): to be freed */
    bool proportional; /* these were divided by each image's largest, not by 255 */
    uint32_t crc;      /* of the values, the same in every type that holds them */
} weights_facts;

/* `params` as in cnn_net_init_params(); written in the network's type, with the facts but the checksum. The file is
 * replaced whole. */
cnn_status weights_save(const cnn_network *network, const void *params, const weights_facts *facts, const char *path,
                        cnn_error *err);
/* The other way round, from f64, f32, f16 or bf16 to the network's type. A file that lacks a tensor, has one that is
 * not the network's (PyTorch's num_batches_tracked apart), another shape, or a number that the type does not hold, is
 * CNN_BAD_ARGUMENT; one that is broken, CNN_BAD_FORMAT. */
cnn_status weights_load(const cnn_network *network, const char *path, void *params, weights_facts *facts,
                        cnn_error *err);

/* weights_means.c: facts->mean and facts->means as text, to be freed (NULL: no memory), and from it. */
char *weights_means_text(const weights_facts *facts, int64_t channels);
cnn_status weights_means_read(const char *text, int64_t channels, const char *path, weights_facts *facts,
                              cnn_error *err);

#endif
