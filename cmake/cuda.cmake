# CUDA: BENCHCNN_CUDA=AUTO|ON|OFF|EMULATED. Included by the top CMakeLists.txt, since only there languages are enabled.
#
# Afterwards BENCHCNN_CUDA_MODE is REAL, EMULATED or empty, and
#   BENCHCNN_CUDA_WHY_NOT       why there is no CUDA at all, or empty
#   BENCHCNN_REAL_CUDA_WHY_NOT  the same for what emulation cannot do
set(BENCHCNN_CUDA AUTO CACHE STRING "CUDA: AUTO, ON, OFF, or EMULATED (the kernels on the host, to test them)")
set_property(CACHE BENCHCNN_CUDA PROPERTY STRINGS AUTO ON OFF EMULATED)
set(BENCHCNN_CUDA_MODE "")
set(BENCHCNN_CUDA_WHY_NOT "")

# Where nvcc is, in the variable BENCHCNN_NVCC: what the user says, then the path, then where the toolkit puts itself.
function(benchcnn_find_nvcc)
  if(CMAKE_CUDA_COMPILER)
    set(BENCHCNN_NVCC "${CMAKE_CUDA_COMPILER}" CACHE FILEPATH "the CUDA compiler")
  elseif(DEFINED ENV{CUDACXX})
    set(BENCHCNN_NVCC "$ENV{CUDACXX}" CACHE FILEPATH "the CUDA compiler")
  endif()
  find_program(BENCHCNN_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES bin
    DOC "the CUDA compiler")
  mark_as_advanced(BENCHCNN_NVCC)
endfunction()

# In the variable WHY: what is wrong with this nvcc's toolkit, or nothing. Graphs are made as CUDA 12 makes them.
set(BENCHCNN_CUDA_LEAST 12.0)
function(benchcnn_check_toolkit why)
  execute_process(COMMAND ${BENCHCNN_NVCC} --version OUTPUT_VARIABLE said ERROR_QUIET)
  if(said MATCHES "release ([0-9]+[.][0-9]+)" AND CMAKE_MATCH_1 VERSION_LESS BENCHCNN_CUDA_LEAST)
    set(${why} "the CUDA toolkit of ${BENCHCNN_NVCC} is ${CMAKE_MATCH_1}, but ${BENCHCNN_CUDA_LEAST} or a later one is \
needed: install one of NVIDIA's (name it with CUDACXX=/path/to/nvcc)" PARENT_SCOPE)
  endif()
endfunction()

# check_language(), asked again where it found nothing the last time: something may have been installed since.
macro(benchcnn_check_language language)
  if(NOT CMAKE_${language}_COMPILER)
    unset(CMAKE_${language}_COMPILER CACHE)
    check_language(${language})
  endif()
endmacro()

# "native" where a GPU can be asked. Else one machine code and one PTX, of Ampere: a later GPU's driver compiles the PTX when
# the program first starts there. Each further architecture would add half a minute to a build on two cores.
function(benchcnn_cuda_architectures)
  if(DEFINED CMAKE_CUDA_ARCHITECTURES OR DEFINED ENV{CUDAARCHS})
    return()
  endif()
  execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE gpus RESULT_VARIABLE result ERROR_QUIET)
  if(result EQUAL 0 AND gpus MATCHES "GPU 0")
    set(list native)
  else()
    set(list 80)
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${list} CACHE STRING "architectures to compile CUDA code for")
endfunction()

if(BENCHCNN_CUDA STREQUAL OFF)
  set(BENCHCNN_CUDA_WHY_NOT "CUDA is switched off (BENCHCNN_CUDA=OFF)")
elseif(BENCHCNN_CUDA STREQUAL EMULATED)
  enable_language(CXX)
  set(BENCHCNN_CUDA_MODE EMULATED)
elseif(BENCHCNN_CUDA MATCHES "^(AUTO|ON)$")
  include(CheckLanguage)
  benchcnn_find_nvcc()
  if(NOT BENCHCNN_NVCC)
    set(BENCHCNN_CUDA_WHY_NOT
      "no CUDA toolkit: nvcc not found on PATH or in /usr/local/cuda (name it with CUDACXX=/path/to/nvcc)")
  else()
    benchcnn_check_toolkit(BENCHCNN_CUDA_WHY_NOT)
  endif()
  if(NOT BENCHCNN_CUDA_WHY_NOT)
    benchcnn_check_language(CXX)
    if(NOT CMAKE_CXX_COMPILER)
      set(BENCHCNN_CUDA_WHY_NOT "CUDA needs a C++ compiler beside nvcc (Debian, Ubuntu: apt-get install g++)")
    else()
      set(ENV{CUDACXX} "${BENCHCNN_NVCC}")
      benchcnn_check_language(CUDA)
      if(NOT CMAKE_CUDA_COMPILER)
        set(BENCHCNN_CUDA_WHY_NOT
          "${BENCHCNN_NVCC} does not compile a test program; see CMakeFiles in the build folder for what it said")
      endif()
    endif()
  endif()
  if(NOT BENCHCNN_CUDA_WHY_NOT)
    benchcnn_cuda_architectures()
    enable_language(CXX)
    enable_language(CUDA)
    find_package(CUDAToolkit ${BENCHCNN_CUDA_LEAST} REQUIRED)
    set(BENCHCNN_CUDA_MODE REAL)
  elseif(BENCHCNN_CUDA STREQUAL ON)
    message(FATAL_ERROR "BENCHCNN_CUDA=ON, but: ${BENCHCNN_CUDA_WHY_NOT}")
  endif()
else()
  message(FATAL_ERROR "BENCHCNN_CUDA is AUTO, ON, OFF or EMULATED, not '${BENCHCNN_CUDA}'")
endif()

set(BENCHCNN_REAL_CUDA_WHY_NOT "${BENCHCNN_CUDA_WHY_NOT}")
if(BENCHCNN_CUDA_MODE STREQUAL EMULATED)
  set(BENCHCNN_REAL_CUDA_WHY_NOT "cuDNN cannot be emulated (BENCHCNN_CUDA=EMULATED)")
endif()

foreach(language CXX CUDA)
  set(CMAKE_${language}_STANDARD 17)
  set(CMAKE_${language}_STANDARD_REQUIRED ON)
  set(CMAKE_${language}_EXTENSIONS OFF)
endforeach()

# benchcnn_cuda_sources(TARGET): its .cu files are CUDA, or C++ in an emulated build; to be called where it is defined.
function(benchcnn_cuda_sources target)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cu$")
  if(BENCHCNN_CUDA_MODE STREQUAL EMULATED AND sources)
    set_source_files_properties(${sources} PROPERTIES LANGUAGE CXX)
    # At -O2 kernels compile in half of the time that -O3 takes, and run as fast: most of what emulation takes is the emulator.
    set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
  endif()
endfunction()

# benchcnn_cuda_library(NAME FILES...): a static library of .c and .cu files over harness/cuda, in both modes.
function(benchcnn_cuda_library name)
  add_library(${name} STATIC ${ARGN})
  benchcnn_cuda_sources(${name})
  target_link_libraries(${name} PUBLIC benchcnn_cuda)
endfunction()
