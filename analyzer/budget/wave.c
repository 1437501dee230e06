/* The last wave of a grid whose size the host code states. How many SMs a card of the target has is
 * the card's own affair: advice only where every known card of the target says the same. */
#include <glib.h>

#include "budget/internal.h"

#define CARDS 3
#define FULL_WAVES 4 /* beyond these the last one hardly counts */

/* Product data sheets: H100 SXM, H200 and GH200 132 SMs, H100 PCIe 114, H100 NVL 132; B200 148. */
static const struct {
  int number;
  int sms[CARDS];
} CARD_SMS[] = {{90, {132, 114}}, {100, {148}}};

static bool is_persistent(const IrKernel *kernel) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_event && insn->event == IR_EV_clc_try_cancel) return true;
    if (insn->op == IR_atom && insn->space != IR_SPACE_SHARED) return true; /* a work counter */
    for (int a = 0; a < insn->nargs; a++)
      if (insn->args[a].kind == IR_OPD_SPECIAL && insn->args[a].id >= IR_SREG_nctaid_x &&
          insn->args[a].id <= IR_SREG_nctaid_z)
        return true;
  }
  return false;
}

/* Blocks in the last wave when it is less than a quarter of one; 0: it is not. */
static int64_t small_rest(int64_t blocks, int64_t workers) {
  int64_t waves = blocks / workers, rest = blocks % workers;
  return waves >= 1 && waves <= FULL_WAVES && rest > 0 && rest * 4 < workers ? rest : 0;
}

static void check_launch(const Budget *b, const BudgetLaunch *launch, int per_sm) {
  int64_t blocks = budget_volume(launch->grid), rest = 0;
  if (blocks <= 0 || launch->directive || budget_reported(b, "perf-partial-last-wave")) return;
  for (size_t i = 0; i < G_N_ELEMENTS(CARD_SMS); i++) {
    if (CARD_SMS[i].number != b->arch->number) continue;
    for (int c = CARDS - 1; c >= 0; c--) {
      if (!CARD_SMS[i].sms[c]) continue;
      rest = small_rest(blocks, (int64_t)CARD_SMS[i].sms[c] * per_sm);
      if (!rest) return;
    }
    IrViolation *v = ir_violation(
        b->violations, "perf-partial-last-wave", b->kernel, launch->where,
        "%" G_GINT64_FORMAT
        " blocks of %s, %d at a time on an SM: the last wave has %" G_GINT64_FORMAT " for %d SMs",
        blocks, b->kernel->name, per_sm, rest, CARD_SMS[i].sms[0]);
    ir_violation_fact(b->violations, v, "rest", "%" G_GINT64_FORMAT, rest);
  }
}

void budget_waves(const Budget *b, const BudgetKernel *out) {
  if (out->row.blocks_per_sm != 1 || is_persistent(b->kernel)) return; /* more: by registers, too */
  for (int i = 0; i < b->launches.count; i++)
    check_launch(b, &b->launches.items[i], out->row.blocks_per_sm);
}
