# The direct convolution: one text for the inner loops, compiled for each instruction set and chosen at run time. Only
# these files may fuse a product and a sum (-ffp-contract=fast): their tile functions are written for it.
target_sources(impl_cpu PRIVATE direct/conv.c direct/plan.c direct/weights.c direct/tiles.c direct/runs.c direct/select.c direct/base.c)
set(direct_flags -O3 -ffp-contract=fast)
set_source_files_properties(direct/base.c PROPERTIES COMPILE_OPTIONS "${direct_flags}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  target_sources(impl_cpu PRIVATE direct/avx2.c direct/avx512.c)
  target_compile_definitions(impl_cpu PRIVATE DIRECT_X86)
  set_source_files_properties(direct/avx2.c PROPERTIES COMPILE_OPTIONS "${direct_flags};-mavx2;-mfma")
  set_source_files_properties(direct/avx512.c PROPERTIES COMPILE_OPTIONS
    "${direct_flags};-mavx2;-mfma;-mavx512f;-mavx512vl;-mavx512dq;-mavx512bw")
endif()
