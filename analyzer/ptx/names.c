/* Names of types, state spaces and special registers (PTX ISA 5.1, 5.2, 10). */
#include <string.h>

#include "ptx/parse.h"

static const struct {
  const char *name;
  IrType type;
} types[] = {
    {"pred", {IR_CLASS_PRED, 1}},    {"b8", {IR_CLASS_UINT, 1}},
    {"b16", {IR_CLASS_UINT, 2}},     {"b32", {IR_CLASS_UINT, 4}},
    {"b64", {IR_CLASS_UINT, 8}},     {"b128", {IR_CLASS_UINT, 16}},
    {"u8", {IR_CLASS_UINT, 1}},      {"u16", {IR_CLASS_UINT, 2}},
    {"u32", {IR_CLASS_UINT, 4}},     {"u64", {IR_CLASS_UINT, 8}},
    {"s8", {IR_CLASS_SINT, 1}},      {"s16", {IR_CLASS_SINT, 2}},
    {"s32", {IR_CLASS_SINT, 4}},     {"s64", {IR_CLASS_SINT, 8}},
    {"f16", {IR_CLASS_FLOAT, 2}},    {"bf16", {IR_CLASS_FLOAT, 2}},
    {"f32", {IR_CLASS_FLOAT, 4}},    {"f64", {IR_CLASS_FLOAT, 8}},
    {"f16x2", {IR_CLASS_FLOAT, 4}},  {"bf16x2", {IR_CLASS_FLOAT, 4}},
    {"f32x2", {IR_CLASS_FLOAT, 8}},  {"tf32", {IR_CLASS_FLOAT, 4}},
    {"e4m3x2", {IR_CLASS_FLOAT, 2}}, {"e5m2x2", {IR_CLASS_FLOAT, 2}},
    {"e2m3x2", {IR_CLASS_FLOAT, 2}}, {"e3m2x2", {IR_CLASS_FLOAT, 2}},
    {"e2m1x2", {IR_CLASS_FLOAT, 1}}, {"ue8m0x2", {IR_CLASS_FLOAT, 2}},
    {"e4m3x4", {IR_CLASS_FLOAT, 4}}, {"e5m2x4", {IR_CLASS_FLOAT, 4}},
    {"e2m3x4", {IR_CLASS_FLOAT, 4}}, {"e3m2x4", {IR_CLASS_FLOAT, 4}},
    {"e2m1x4", {IR_CLASS_FLOAT, 2}}, {"u16x2", {IR_CLASS_UINT, 4}},
    {"s16x2", {IR_CLASS_SINT, 4}},   {"b1024", {IR_CLASS_UINT, 128}},
    {"texref", {IR_CLASS_UINT, 8}},  {"samplerref", {IR_CLASS_UINT, 8}},
    {"surfref", {IR_CLASS_UINT, 8}},
};

bool ptx_type(const char *modifier, IrType *type) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].name, modifier) == 0) {
      *type = types[i].type;
      return true;
    }
  return false;
}

static const struct {
  const char *name;
  IrSpace space;
} spaces[] = {
    {"shared", IR_SPACE_SHARED},
    {"shared::cta", IR_SPACE_SHARED},
    {"shared::cluster", IR_SPACE_SHARED_CLUSTER},
    {"global", IR_SPACE_GLOBAL},
    {"local", IR_SPACE_LOCAL},
    {"const", IR_SPACE_CONST},
    {"param", IR_SPACE_PARAM},
    {"param::entry", IR_SPACE_PARAM},
    {"param::func", IR_SPACE_PARAM},
};

IrSpace ptx_space(const char *modifier) {
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
    if (strcmp(spaces[i].name, modifier) == 0) return spaces[i].space;
  return IR_SPACE_NONE;
}

static const struct {
  const char *name;
  IrSpecial special;
} specials[] = {
    {"%tid.x", IR_SREG_tid_x},
    {"%tid.y", IR_SREG_tid_y},
    {"%tid.z", IR_SREG_tid_z},
    {"%ntid.x", IR_SREG_ntid_x},
    {"%ntid.y", IR_SREG_ntid_y},
    {"%ntid.z", IR_SREG_ntid_z},
    {"%ctaid.x", IR_SREG_ctaid_x},
    {"%ctaid.y", IR_SREG_ctaid_y},
    {"%ctaid.z", IR_SREG_ctaid_z},
    {"%nctaid.x", IR_SREG_nctaid_x},
    {"%nctaid.y", IR_SREG_nctaid_y},
    {"%nctaid.z", IR_SREG_nctaid_z},
    {"%clusterid.x", IR_SREG_clusterid_x},
    {"%clusterid.y", IR_SREG_clusterid_y},
    {"%clusterid.z", IR_SREG_clusterid_z},
    {"%nclusterid.x", IR_SREG_nclusterid_x},
    {"%nclusterid.y", IR_SREG_nclusterid_y},
    {"%nclusterid.z", IR_SREG_nclusterid_z},
    {"%cluster_ctaid.x", IR_SREG_cluster_ctaid_x},
    {"%cluster_ctaid.y", IR_SREG_cluster_ctaid_y},
    {"%cluster_ctaid.z", IR_SREG_cluster_ctaid_z},
    {"%cluster_nctaid.x", IR_SREG_cluster_nctaid_x},
    {"%cluster_nctaid.y", IR_SREG_cluster_nctaid_y},
    {"%cluster_nctaid.z", IR_SREG_cluster_nctaid_z},
    {"%cluster_ctarank", IR_SREG_cluster_ctarank},
    {"%cluster_nctarank", IR_SREG_cluster_nctarank},
    {"%is_explicit_cluster", IR_SREG_is_explicit_cluster},
    {"%laneid", IR_SREG_laneid},
    {"%warpid", IR_SREG_warpid},
    {"%nwarpid", IR_SREG_nwarpid},
    {"%smid", IR_SREG_smid},
    {"%nsmid", IR_SREG_nsmid},
    {"%gridid", IR_SREG_gridid},
    {"%lanemask_eq", IR_SREG_lanemask_eq},
    {"%lanemask_lt", IR_SREG_lanemask_lt},
    {"%lanemask_le", IR_SREG_lanemask_le},
    {"%lanemask_gt", IR_SREG_lanemask_gt},
    {"%lanemask_ge", IR_SREG_lanemask_ge},
    {"%clock", IR_SREG_clock},
    {"%clock_hi", IR_SREG_clock},
    {"%clock64", IR_SREG_clock},
    {"%globaltimer", IR_SREG_globaltimer},
    {"%globaltimer_lo", IR_SREG_globaltimer},
    {"%globaltimer_hi", IR_SREG_globaltimer},
    {"%dynamic_smem_size", IR_SREG_dynamic_smem_size},
    {"%total_smem_size", IR_SREG_total_smem_size},
    {"%aggr_smem_size", IR_SREG_unknown},
    {"%current_graph_exec", IR_SREG_unknown},
};

IrSpecial ptx_special(const char *name) {
  for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
    if (strcmp(specials[i].name, name) == 0) return specials[i].special;
  if (strncmp(name, "%pm", 3) == 0 || strncmp(name, "%envreg", 7) == 0 ||
      strncmp(name, "%reserved_smem_offset", 21) == 0)
    return IR_SREG_unknown;
  return IR_SREG_COUNT;
}
