/* Which errors of a parse may cost a kernel something. */
#ifndef KC_CUDA_FAULTS_H
#define KC_CUDA_FAULTS_H

#include "cuda/unit.h"

/* Whether an error of clang says nothing about the file: nvcc does not have it, and the AST is
 * whole. */
bool fault_is_harmless(const char *message);
/* The header that a "file not found" message names, or NULL; caller frees with g_free. */
char *fault_missing_header(const char *message);
/* Whether a header is of a library for hosts, so that a kernel loses nothing with it that clang
 * does not complain about where the kernel uses it. */
bool fault_header_is_for_hosts(const char *header);
/* Whether the error means that no compiler goes on from here: broken syntax, #error, a file that
 * includes itself without end, a template that instantiates itself without end. `category` is
 * clang's category of the diagnostic. */
bool fault_stops_any_compiler(const char *category, const char *message);
/* For each diagnostic of `tu`, whether it is an error that can't cost a kernel anything: a harmless
 * one, or one in the body of a function for the host alone, on a line that neither launches nor
 * configures a kernel. The array is the caller's, to free with g_free. */
bool *faults_beside_kernels(const Clang *clang, CXTranslationUnit tu);

#endif
