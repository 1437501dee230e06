/* desc: matrix descriptors of wgmma (PTX ISA 9.7.15.5.1.2) and tcgen05 (9.7.16.4.1), and the shared
 * bytes that they name. */
#ifndef KC_MACHINE_DESC_H
#define KC_MACHINE_DESC_H

#include "machine/hardware/protocol.h"

typedef struct Descriptor {
  uint64_t raw;
  uint32_t start, leading, stride; /* bytes */
  int swizzle;                     /* bytes of the pattern: 0, 32, 64, 128 */
  int version;                     /* tcgen05: bits 46..48, must be 1 */
  int layout;                      /* the code as it stands */
  int base_offset;
  bool wide_chunks;      /* tcgen05: the 128-byte pattern moves chunks of 32 bytes */
  bool absolute_leading; /* tcgen05: bit 52 */
} Descriptor;

Descriptor desc_wgmma(uint64_t raw);
Descriptor desc_tcgen05(uint64_t raw);

/* The tile that one MMA reads through a descriptor. */
typedef struct DescTile {
  int rows;         /* M or N */
  int k_bytes;      /* K of one instruction, in bytes of shared memory */
  bool transposed;  /* MN-major */
  int element_bits; /* of an element in shared memory */
} DescTile;

/* Bytes from desc->start to the end of the last byte that the tile reads; 0: not known (strides
 * that only some layouts use). */
uint32_t desc_extent(const Descriptor *desc, const DescTile *tile);

/* Checks the tile against the array it starts in, records the read. `async` names the reader for
 * messages ("wgmma"); `family` is "wgmma" or "tcgen05": prefix of the kinds it reports. */
typedef struct DescRead {
  const IrInsn *insn;
  const char *family;
  char operand; /* 'A' or 'B' */
  int rank;
  bool made_up; /* the machine chose a number in it: its bytes may be read, nothing else follows */
} DescRead;
void desc_read(Machine *machine, Strand *strand, const DescRead *read, const Descriptor *desc,
               const DescTile *tile, const Access *access);
/* Bits of one element of an IrData in shared memory. */
int desc_bits(uint8_t data);

/* Which descriptor a K step leaves as it was: '*' both, 'A' or 'B' while the other one advances
 * within a row of 128 bytes (further, it is another tile: parts of a split operand may share the
 * other one); 0: none. */
char desc_that_stays(uint64_t last_a, uint64_t last_b, uint64_t a, uint64_t b);
const char *desc_operands(char stays);

/* Adds to a finding about a descriptor where the code puts it together. `operand`: 'A' or 'B'. */
void desc_say_composed(Machine *machine, IrViolation *v, const IrInsn *insn, char operand);

#endif
