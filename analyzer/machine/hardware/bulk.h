/* bulk: asynchronous copies that complete on an mbarrier or in a bulk group, what tensor.c, clc.c
 * and cause.c share. */
#ifndef KC_MACHINE_BULK_H
#define KC_MACHINE_BULK_H

#include "machine/hardware/mbarrier.h"

typedef struct CopyLoad { /* one copy into the shared memory of one CTA */
  const IrInsn *insn;
  int lane;        /* that issues it */
  int rank;        /* destination */
  uint32_t offset; /* destination */
  int64_t bytes;   /* that complete on the mbarrier; -1: not known */
  uint32_t span;   /* bytes that it is taken to write; 0: `bytes` */
  SharedPlace mbar;
  AccessActor actor;
  uint32_t targets;            /* CTAs that a multicast goes to, a bit each; 0: no multicast */
  const MachineTensorMap *map; /* or NULL */
} CopyLoad;

/* Issues the copy: checks what it overwrites, and completes on its mbarrier later. Returns the
 * access, or NULL when the barrier can't be used. */
Access *copy_load(Machine *machine, Strand *strand, const CopyLoad *copy);
/* A copy that reads [offset, offset + bytes) of CTA `rank`, by one lane, in its open bulk group. */
Access *copy_store(Machine *machine, Strand *strand, const IrInsn *insn, int lane, int rank,
                   uint32_t offset, uint32_t bytes);
/* The CTAs of a multicast mask (own CTA without .multicast); bits outside the cluster are reported
 * and dropped. 0 when the mask is not known. */
uint32_t copy_targets(Machine *machine, Strand *strand, const IrInsn *insn, uint32_t lanes,
                      int own_rank);
/* Reports a copy that several lanes issue with the same operands. */
void copy_check_issuers(Machine *machine, const Strand *strand, const IrInsn *insn, uint32_t lanes,
                        const char *what);
/* Reports a destination or source that does not fit where it points. */
void copy_check_room(Machine *machine, const Strand *strand, const IrInsn *insn, int rank,
                     uint32_t offset, int64_t bytes);
/* A wait_group of a thread of the CTA that issued no bulk store itself, or NULL. */
const IrInsn *bulk_foreign_wait(const Machine *machine, const Cta *cta);
/* The lanes signal others through global memory after a fence: an atomic or a releasing store. */
void bulk_signal(Machine *machine, Strand *strand, const IrInsn *insn, uint32_t lanes);
/* Reports a shared address that is not a multiple of `align`. */
void copy_check_alignment(Machine *machine, const Strand *strand, const IrInsn *insn, int rank,
                          uint32_t offset, unsigned align, const char *why);
/* Lanes end: stores that were not waited for. */
void bulk_exit(Machine *machine, Strand *strand, uint32_t lanes);

#endif
