/* slots.h: the operations of cnn_operations that have a plan, and the type of their arguments: SLOT(name, type). */
#ifndef HARNESS_DEVICE_SLOTS_H
#define HARNESS_DEVICE_SLOTS_H

#define CNN_SLOTS(SLOT)                                                                                                \
    SLOT(conv_fwd, cnn_weighted_args)                                                                                  \
    SLOT(conv_bwd_data, cnn_weighted_args)                                                                             \
    SLOT(conv_bwd_weights, cnn_weighted_args)                                                                          \
    SLOT(fc_fwd, cnn_weighted_args)                                                                                    \
    SLOT(fc_bwd_data, cnn_weighted_args)                                                                               \
    SLOT(fc_bwd_weights, cnn_weighted_args)                                                                            \
    SLOT(pool_fwd, cnn_map_fwd_args)                                                                                   \
    SLOT(pool_bwd, cnn_map_bwd_args)                                                                                   \
    SLOT(act_fwd, cnn_map_fwd_args)                                                                                    \
    SLOT(act_bwd, cnn_map_bwd_args)                                                                                    \
    SLOT(dropout_fwd, cnn_map_fwd_args)                                                                                \
    SLOT(dropout_bwd, cnn_map_bwd_args)                                                                                \
    SLOT(loss_fwd, cnn_loss_args)                                                                                      \
    SLOT(loss_bwd, cnn_loss_args)                                                                                      \
    SLOT(add_fwd, cnn_join_args)                                                                                       \
    SLOT(concat_fwd, cnn_join_args)                                                                                    \
    SLOT(concat_bwd, cnn_split_args)                                                                                   \
    SLOT(batchnorm_fwd, cnn_batchnorm_args)                                                                            \
    SLOT(batchnorm_bwd, cnn_batchnorm_args)                                                                            \
    SLOT(optimizer_step, cnn_optimizer_args)
/* The bias of transposed convolutions. */
#define CNN_BIAS_SLOTS(SLOT) SLOT(bias_add, cnn_bias_args) SLOT(bias_gradient, cnn_bias_args)

#endif
