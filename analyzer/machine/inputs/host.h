/* What one run of a host program recorded, before the two runs are compared (host_facts.c). */
#ifndef KC_MACHINE_HOST_H
#define KC_MACHINE_HOST_H

#include "machine/internal.h"

#define HOST_UNKNOWN INT64_MIN
#define HOST_ARGS 64

/* A tensor map carries its number in its first eight bytes, so that copies of it are recognised. */
#define HOST_MAP_TAG UINT64_C(0x7e5012ab00000000)

typedef struct HostLeaf {
  uint64_t offset; /* in the kernel's parameter space */
  int64_t value;   /* HOST_UNKNOWN */
} HostLeaf;

typedef struct HostLaunch {
  const IrInsn *insn;
  const char *kernel;
  int64_t grid[3], block[3], cluster[3], smem; /* HOST_UNKNOWN; cluster 0: no attribute */
  bool pdl, pdl_known, extended;
  bool cooperative, cooperative_known;
  int64_t args[HOST_ARGS];
  int nargs;
  KC_VEC(HostLeaf) leaves; /* also inside records; the value of a tensor map is its tag */
} HostLaunch;

typedef struct HostAttr {
  const IrInsn *insn;
  const char *kernel;
  int64_t attribute, value;
} HostAttr;

typedef struct HostMap {
  const IrInsn *insn;
  int64_t address, type, rank, base, interleave, swizzle, fill;
  int64_t dims[5], strides[5], box[5], elem_strides[5];
} HostMap;

typedef struct HostRun {
  int64_t processors; /* SMs of the card that this run imagines */
  KC_VEC(HostLaunch *) launches;
  KC_VEC(HostAttr) attrs;
  KC_VEC(HostMap *) maps;
  int capability; /* of the device, major * 10 + minor; 0: unknown */
} HostRun;

/* One run of the session's host program on a device of compute capability `capability`
 * (major * 10 + minor); 0: the program can't tell. */
HostRun *host_run_on(MachineSession *session, int capability);

/* Launches that a program makes depend on the device, and that devices reach for which `build`
 * (NULL-terminated targets of the build; NULL: not known) has no code. Only for builds that all
 * have a suffix. Source: PTX ISA 11 (.target), CUDA programming guide on compute capabilities. */
void host_check_devices(MachineSession *session, const IrProgram *program, const Arch *const *build,
                        IrViolations *violations);

/* Adds what two runs of the same host program agree on to the facts, and what is wrong with its
 * tensor maps to the violations. */
void host_merge(const IrProgram *program, const IrKernel *kernel, const HostRun *a,
                const HostRun *b, MachineHostFacts *facts, IrViolations *violations);

/* Adds the launches of a host program that the runs did not come to, as unreached ones: dimensions
 * as far as the code itself tells them. Arguments and size of shared memory stay unknown: what they
 * belong to, an attribute set before, a pitch passed on, was not run either. */
void host_add_launches(const IrProgram *program, const IrKernel *host, MachineHostFacts *facts);

#endif
