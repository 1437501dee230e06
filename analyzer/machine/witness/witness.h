/* witness: the lines that let a person check a violation by hand. */
#ifndef KC_MACHINE_WITNESS_H
#define KC_MACHINE_WITNESS_H

#include "machine/hardware/protocol.h"

/* "the tensor load at line 41", "the read by warp 4 at line 60"; text of the session's arena. */
const char *witness_access(Machine *machine, const Access *access);
/* The same without the place: "the tensor load", "the read by warp 4". */
const char *witness_label(Machine *machine, const Access *access);
/* What does it: "a wgmma", "a bulk store". */
const char *witness_actor(const Access *access);
/* "warp 3" or "warp 3 of CTA 1". */
const char *witness_warp(Machine *machine, uint32_t warp);
/* "warps 4-7", "warp 0": a bit a warp, by its number. */
const char *witness_warps(Machine *machine, uint64_t warps);
/* "st", "nd", "rd", "th" */
const char *witness_ordinal(int64_t n);
/* Adds what happened on a barrier in its last phases, at most `lines` lines. */
void witness_barrier(Machine *machine, IrViolation *v, const Mbar *bar, int lines);
/* Adds the two accesses, in the order of the run, and what is missing between them. */
void witness_race(Machine *machine, IrViolation *v, const Access *before, const Access *now,
                  const char *missing);
/* Adds who is stuck where in a run that can't go on, and what each waits for: at most `lines`. */
void witness_stuck(Machine *machine, IrViolation *v, int lines);

/* The same of two deeds that are not both accesses, in words. */
void witness_order(Machine *machine, IrViolation *v, const char *first, const char *then,
                   const char *missing);

#endif
