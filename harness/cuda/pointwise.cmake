# Every operation but conv and FC, for all CUDA implementations; and bias for those whose library is slow at it.
set(CUDA_POINTWISE_SOURCES
  act.cu pool.cu loss.cu dropout.cu join.cu batchnorm.cu optimizer.cu gather.cu gate.c pointwise_supports.cu bias.cu)
