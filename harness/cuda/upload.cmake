# The sources of the uploads beside the stream (host_alloc, upload_async, ...); included by CMakeLists.txt here.
set(CUDA_UPLOAD_SOURCES upload.cu)
