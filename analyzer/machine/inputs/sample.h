/* A sample: one realisable choice of everything a kernel gets from outside (dimensions, parameters,
 * contents of integer arrays). inputs.c makes the samples of a kernel, sample.c reads them. */
#ifndef KC_MACHINE_SAMPLE_H
#define KC_MACHINE_SAMPLE_H

#include <glib.h>

#include "machine/machine.h"

typedef struct MachineSession MachineSession;

typedef struct MachineInput { /* an integer parameter */
  const char *name, *value;
  int64_t number;
  uint64_t offset; /* in parameter space */
  int bytes;
  bool fixed;   /* by a launch, directive or assumption */
  int64_t tile; /* what it counts is a multiple of this; 1: none shows; negative: a stride */
} MachineInput;

#define CLC_GRANTS 3 /* tiles that try_cancel hands out before it fails */

typedef enum SampleUse { /* when a sample is run */
                         SAMPLE_ALWAYS,
                         SAMPLE_MORE_TILES, /* the rings didn't go round often enough */
                         SAMPLE_SIZES, /* everything before trapped, or nothing was ever copied or
                                          waited for */
                         SAMPLE_DIVISIBLE, /* everything before trapped, or an odd size may be to
                                              blame for a finding */
                         SAMPLE_FEW_BYTES, /* ... and what the divisible one copies has no room */
                         SAMPLE_LAST       /* everything before trapped */
} SampleUse;

typedef struct MachineSample {
  int rank;         /* place in the order they are run; also the order of preference */
  const char *name; /* "2 x stages + 3", for --dump events */
  int64_t blocks;   /* tiles of a parameter that counts elements of tiles; 0: `ints` for it too */
  int64_t ints;     /* value of integer parameters that nobody fixed */
  int64_t grid[3], block[3], cluster[3];
  int64_t cluster_index; /* which cluster of the grid runs */
  bool other_plane;      /* ... and it was chosen for its place along y and z */
  int64_t dynamic_shared;
  bool dynamic_shared_known;
  uint8_t *param;       /* bytes of parameter space */
  uint8_t *param_known; /* a flag a byte */
  uint64_t param_bytes;
  const int64_t *pattern; /* elements of integer arrays, repeated */
  int npattern;
  uint64_t cumulative;  /* pointer parameters whose elements are running sums of the pattern */
  uint64_t ends;        /* ... that start with the sum of one element */
  uint64_t free_leaves; /* integer parameters that nobody fixed, as ORIGIN_PARAMS */
  bool degenerate; /* 0, 1, ragged: what is seen only here is withheld unless the code admits it */
  bool launched;   /* dimensions or arguments come from a launch, directive or assumption */
  bool ragged;     /* integers that the machine chose are no multiples of anything */
  SampleUse use;
  bool uneven;  /* whole tiles and a part of one, where the code allows for it */
  int small;    /* tiles of what the code allows to be so few; -1: as usual */
  bool exact;   /* sizes and grid as the host launches it */
  bool resized; /* has other sizes than the host launches it with */
  bool bounded; /* may be cut short without that counting as unfinished */
  bool block_guessed, cluster_guessed;
  bool block_known;   /* by a launch, a directive, an attribute or a template argument so named */
  bool shape_guessed; /* the kernel reads threadIdx.y or z, and nobody tells the block's shape */
  bool tiled;         /* some integer counts elements of tiles */
  int free_ints;      /* integer parameters that nobody fixed */
  KC_VEC(MachineInput) inputs;
} MachineSample;

typedef struct MachineSamples {
  KC_VEC(MachineSample *) list;
  int64_t stages;
  const char *conflict; /* why there are none: assumptions that exclude everything */
} MachineSamples;

/* Whether the parameter leaf called `leaf` ("params.k") answers to `name`: its last part will do.
 */
bool sample_is_named(const char *leaf, const char *name);
/* Values for the parameters that the assumptions of the session name (leaf name -> int64_t *), as
 * near to the sample's own as they allow; the caller destroys the table. NULL when there are no
 * assumptions, and with *impossible set when no values that were tried satisfy them. */
GHashTable *sample_satisfy(const MachineSession *session, const MachineSample *sample,
                           bool *impossible);

/* The samples of a kernel, best first. */
MachineSamples *sample_make(MachineSession *session);
/* Puts the fewest trips that still go round every ring once more in the place of the first two
 * samples. False: there is nothing to choose. */
bool sample_fewer(MachineSession *session, MachineSamples *samples);
/* Where a cluster stands that does what the runs so far left undone because their blocks stand in
 * the first row and plane of the grid: `number` clusters along y or z, as far as the launch has so
 * many, or both. False: branches on blockIdx.y and blockIdx.z leave nothing, or the launch has no
 * such cluster. */
bool sample_plane(const MachineSession *session, const MachineSample *like, int number,
                  int64_t at[3]);
/* Adds a sample with the sizes of `like` that runs this cluster. NULL: there is none. */
MachineSample *sample_other_plane(MachineSession *session, MachineSamples *samples,
                                  const MachineSample *like, int number);
/* Pointer parameters (leaves) in order: leaf i points to IR_POINTER_BASE + i * IR_POINTER_STRIDE.
 */
const IrLeaf *sample_pointer_leaf(const IrKernel *kernel, uint64_t index);
/* Eight bytes of global memory as they are before the kernel runs, at a multiple of 8; false when
 * unknown. */
bool sample_initial_word(const IrKernel *kernel, const MachineSample *sample, uint64_t address,
                         uint64_t *out);
/* The window of a pointer that an address lies in, plus 1, when nothing in it is known before the
 * kernel runs; else 0. */
uint64_t sample_plain_window(const IrKernel *kernel, const MachineSample *sample, uint64_t address);
/* Evaluates an assumption ("K % 64 == 0 && K >= 64") over named values. `value_of` gives a name's
 * value or false. Returns false with *ok unset when the expression can't be read or names something
 * unknown; else *ok tells whether it holds. */
bool assume_evaluate(const char *expression,
                     bool (*value_of)(const char *name, void *user, int64_t *out), void *user,
                     bool *ok);
/* Reports assumptions that name what no kernel has as a parameter. */
void assume_check_names(const IrProgram *program, const MachineOptions *options,
                        IrViolations *violations);
/* Calls `visit` for each name in the expression. */
void assume_each_name(const char *expression, void (*visit)(const char *name, void *user),
                      void *user);

#endif
