// Stands in where the CUDA wrapper of an older clang asks for a header that toolkits dropped with
// CUDA 12.
#pragma once
