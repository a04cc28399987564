# Every operation but conv and FC, for all CUDA implementations.
set(CUDA_POINTWISE_SOURCES
  act.cu pool.cu loss.cu dropout.cu join.cu batchnorm.cu optimizer.cu gather.cu pointwise_supports.cu)
