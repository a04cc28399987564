# benchcnn_isa_flags(RESULT): how kernels are optimised, whatever their instruction set. Only these files may fuse a product and
# a sum: their kernels are written for it.
function(benchcnn_isa_flags result)
  set(flags -O3 -ffp-contract=fast)
  if(BENCHCNN_SANITIZE) # at -O3 the checks of unrolled loops take the compiler minutes a file
    set(flags -O1 -ffp-contract=fast)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU") # in long functions a call an access: two thirds of the time for fused/avx512.c
      list(APPEND flags --param=asan-instrumentation-with-call-threshold=30)
    endif()
  endif()
  set(${result} "${flags}" PARENT_SCOPE)
endfunction()

# benchcnn_isa(TARGET FILE FLAGS...): kernels of one text, compiled for each instruction set and chosen at run time: FILE
# is such a source for the base set, FILE with avx2 and avx512 for `base` are its others. FLAGS are
# AVX-512's.
function(benchcnn_isa target file)
  benchcnn_isa_flags(flags)
  target_sources(${target} PRIVATE ${file})
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${flags}")
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    return()
  endif()
  string(REPLACE base avx2 avx2 ${file})
  string(REPLACE base avx512 avx512 ${file})
  target_sources(${target} PRIVATE ${avx2} ${avx512})
  set_source_files_properties(${avx2} PROPERTIES COMPILE_OPTIONS "${flags};-mavx2;-mfma")
  set(wide -mavx512f -mavx512vl -mavx512dq -mavx512bw ${ARGN})
  if(BENCHCNN_AVX512_BY_AVX2 AND NOT file MATCHES "fused|whole|peaks") # these name AVX-512's instructions, or measure them
    set(wide -O2 -Wno-psabi) # -O3 takes minutes to put 32 wide registers into 16 small ones
  endif()
  set_source_files_properties(${avx512} PROPERTIES COMPILE_OPTIONS "${flags};-mavx2;-mfma;${wide}")
endfunction()

# benchcnn_isa_base(TARGET FILE): a kernel for every processor, whose vectors may be longer than the processor's.
function(benchcnn_isa_base target file)
  benchcnn_isa_flags(flags)
  target_sources(${target} PRIVATE ${file})
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${flags};-O2;-Wno-psabi")
endfunction()

# benchcnn_isa_more(TARGET FILE FLAGS...): kernels for processors that have more than AVX-512's base, by these flags.
function(benchcnn_isa_more target file)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    return()
  endif()
  benchcnn_isa_flags(flags)
  target_sources(${target} PRIVATE ${file})
  set(wide -mavx2 -mfma -mavx512f -mavx512vl -mavx512dq -mavx512bw ${ARGN})
  set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${flags};${wide}")
endfunction()
