/* Immediate post-dominators by the iterative algorithm of Cooper, Harvey and Kennedy, run on the
 * reversed flow graph of single instructions with a virtual exit. */
#include "ir/ir.h"

#include <glib.h>

void ir_postdominators(IrKernel *kernel);

static int successors(const IrKernel *kernel, int at, int *out, int limit) {
  const IrInsn *insn = &kernel->insns.items[at];
  int count = 0, next = at + 1 < kernel->insns.count ? at + 1 : kernel->insns.count;
  if (insn->op == IR_branch) {
    out[count++] = insn->target;
    if (insn->guard >= 0) out[count++] = next;
  } else if (insn->op == IR_branch_index) {
    for (int i = 1; i < insn->nargs && count < limit - 1; i++)
      out[count++] = (int)insn->args[i].value;
    out[count++] = next;
  } else if ((insn->op == IR_exit || insn->op == IR_trap) && insn->guard < 0) {
    out[count++] = kernel->insns.count;
  } else {
    out[count++] = next;
  }
  return count;
}

typedef struct {
  const int *order; /* node -> number in post-order of the reversed graph's reverse */
  int *idom;
} Dominators;

static int intersect(const Dominators *d, int a, int b) {
  while (a != b) {
    while (d->order[a] > d->order[b])
      a = d->idom[a];
    while (d->order[b] > d->order[a])
      b = d->idom[b];
  }
  return a;
}

/* Depth-first numbering of the reversed graph from the virtual exit. */
static int number_nodes(int nodes, int *const *preds, const int *npreds, int *order,
                        int *sequence) {
  int *stack = g_new(int, nodes + 1), *next = g_new0(int, nodes + 1);
  for (int i = 0; i <= nodes; i++)
    order[i] = -1;
  int depth = 0, post = 0;
  stack[depth++] = nodes;
  order[nodes] = 0;
  while (depth > 0) {
    int at = stack[depth - 1];
    if (next[at] < npreds[at]) {
      int to = preds[at][next[at]++];
      if (order[to] < 0) {
        order[to] = 0;
        stack[depth++] = to;
      }
    } else {
      sequence[post++] = at;
      depth--;
    }
  }
  for (int i = 0; i < post; i++)
    order[sequence[i]] = post - 1 - i;
  g_free(stack);
  g_free(next);
  return post;
}

void ir_postdominators(IrKernel *kernel) {
  int nodes = kernel->insns.count;
  int **preds = g_new0(int *, nodes + 1), *npreds = g_new0(int, nodes + 1);
  int buffer[256];
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < nodes; i++) {
      int count = successors(kernel, i, buffer, 256);
      for (int j = 0; j < count; j++) {
        if (pass == 1) preds[buffer[j]][npreds[buffer[j]]] = i;
        npreds[buffer[j]]++;
      }
    }
    if (pass == 0) {
      for (int i = 0; i <= nodes; i++) {
        preds[i] = g_new(int, npreds[i] + 1);
        npreds[i] = 0;
      }
    }
  }
  int *order = g_new(int, nodes + 1), *sequence = g_new(int, nodes + 1),
      *idom = g_new(int, nodes + 1);
  int reached = number_nodes(nodes, preds, npreds, order, sequence);
  for (int i = 0; i <= nodes; i++)
    idom[i] = -1;
  idom[nodes] = nodes;
  Dominators d = {order, idom};
  for (bool changed = true; changed;) {
    changed = false;
    for (int s = reached - 2; s >= 0; s--) {
      int at = sequence[s], fresh = -1;
      int count = successors(kernel, at, buffer, 256);
      for (int j = 0; j < count; j++) {
        if (order[buffer[j]] < 0 || idom[buffer[j]] < 0) continue;
        fresh = fresh < 0 ? buffer[j] : intersect(&d, fresh, buffer[j]);
      }
      if (fresh >= 0 && idom[at] != fresh) {
        idom[at] = fresh;
        changed = true;
      }
    }
  }
  for (int i = 0; i < nodes; i++)
    kernel->insns.items[i].ipdom = idom[i] >= 0 && idom[i] < nodes ? idom[i] : -1;
  for (int i = 0; i <= nodes; i++)
    g_free(preds[i]);
  g_free(preds);
  g_free(npreds);
  g_free(order);
  g_free(sequence);
  g_free(idom);
}
