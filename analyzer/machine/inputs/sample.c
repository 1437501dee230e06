/* Reading a sample: what a pointer parameter points to, and what global memory holds at the start.
 */
#include "machine/inputs/sample.h"

#include "machine/execute/core.h"

const IrLeaf *sample_pointer_leaf(const IrKernel *kernel, uint64_t index) {
  for (int i = 0; i < kernel->params.count; i++) {
    const IrParam *param = &kernel->params.items[i];
    for (int j = 0; j < param->leaves.count; j++) {
      if (param->leaves.items[j].kind != IR_LEAF_POINTER) continue;
      if (index-- == 0) return &param->leaves.items[j];
    }
  }
  return NULL;
}

/* Pointers found in memory that pointer parameter `index` points to lead to windows of their own.
 */
#define SECOND_LEVEL 0x80

/* The sum of the elements before one of the pattern, where an element below 0 counts nothing. */
static uint64_t running_sum(const MachineSample *sample, uint64_t element) {
  uint64_t n = (uint64_t)sample->npattern, all = 0, part = 0;
  for (uint64_t i = 0; i < n; i++) {
    uint64_t value = sample->pattern[i] > 0 ? (uint64_t)sample->pattern[i] : 0;
    all += value;
    part += i < element % n ? value : 0;
  }
  return element / n * all + part;
}

bool sample_initial_word(const IrKernel *kernel, const MachineSample *sample, uint64_t address,
                         uint64_t *out) {
  *out = 0;
  if (address < IR_POINTER_BASE || address >= IR_GLOBAL_BASE) return false;
  uint64_t index = (address - IR_POINTER_BASE) / IR_POINTER_STRIDE;
  uint64_t offset = (address - IR_POINTER_BASE) % IR_POINTER_STRIDE;
  if (index >= SECOND_LEVEL) return false;
  const IrLeaf *leaf = sample_pointer_leaf(kernel, index);
  if (!leaf) return false;
  if (leaf->pointee_kind == IR_LEAF_POINTER) {
    if (offset / 8 >= 0x100) return false;
    *out = IR_POINTER_BASE + (SECOND_LEVEL + index * 0x10 + (offset / 8 & 15)) * IR_POINTER_STRIDE +
           (offset / 8 >> 4) * 0x10000000;
    return true;
  }
  int width = leaf->pointee.bytes;
  if (leaf->pointee_kind != IR_LEAF_INT || (width != 4 && width != 8) || sample->npattern == 0)
    return false;
  uint64_t per_word = 8 / (uint64_t)width;
  for (uint64_t i = 0; i < per_word; i++) {
    uint64_t element = offset / (uint64_t)width + i;
    uint64_t value = index < 64 && sample->cumulative >> index & 1
                         ? running_sum(sample, element + (sample->ends >> index & 1))
                         : (uint64_t)sample->pattern[element % (uint64_t)sample->npattern];
    *out |= (value & core_width_mask(width)) << (8 * (uint64_t)width * i);
  }
  return true;
}

uint64_t sample_plain_window(const IrKernel *kernel, const MachineSample *sample,
                             uint64_t address) {
  if (address < IR_POINTER_BASE || address >= IR_GLOBAL_BASE) return 0;
  uint64_t index = (address - IR_POINTER_BASE) / IR_POINTER_STRIDE;
  const IrLeaf *leaf = index < SECOND_LEVEL ? sample_pointer_leaf(kernel, index) : NULL;
  int width = leaf ? leaf->pointee.bytes : 0;
  bool known =
      leaf &&
      (leaf->pointee_kind == IR_LEAF_POINTER ||
       (leaf->pointee_kind == IR_LEAF_INT && (width == 4 || width == 8) && sample->npattern > 0));
  return known ? 0 : index + 1;
}
