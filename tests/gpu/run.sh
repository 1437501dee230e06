#!/bin/sh
# Builds the reference kernels and runs those that the card can run, one line a kernel.
#
#   tests/gpu/run.sh [--build | --run] [FOLDER]
#
# FOLDER (default build/gpu) receives the programs: they can be built on one machine (--build, needs
# nvcc) and run on another (--run, needs a card). Every run has a time limit: a kernel that hangs is a
# FAIL. Exit status: 0 all passed, 1 something failed, 77 nothing could be run. First it prints the
# card, its driver and nvcc; tests/gpu/record.py takes what it prints into fixtures/reference/runs.yaml.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
what=all
case "${1-}" in --build | --run) what=${1#--} && shift ;; esac
folder=${1:-$root/build/gpu}
limit=60

# name, target, how far it goes: run, or parse (helpers without bodies: it can not link). A target
# without a suffix is built as PTX, which every card from there on takes.
kernels='
pipeline_ptx 90a run
pipeline_cuda_ptx 90a run
pipeline_cuda_barrier 90a run
pipeline_bodiless 90a parse
cp_async_pipeline 90a run
named_barriers 90a run
cluster_reduction 90a run
pdl_pair 90a run
wgmma_shapes 90a run
gemm_persistent 90a run
gemm_tma_store 90a run
gemm_pingpong 90a run
gemm_multicast 90a run
gemm_fp8 90a run
gemm_stages 90a run
gemm_grouped 90a run
attention_wgmma 90a run
sparse_attention 90a run
gemv_registers 90a run
target_guards 90a run
target_guards 80 run
gemm_mma_sync 80 run
cache_policy 80 run
chunk_scan 80 run
fused_norm 80 run
shared_transpose 80 run
software_exp 80 run
tile_scheduler 80 run
vector_loads 80 run
warp_sync 80 run
gemm_tcgen05 100a run
clc_persistent 100a run
attention_tcgen05 100a run
gemm_gated_dual 100a run
gemm_nvfp4 100a run
gemm_pair 100a run
gemv_nvfp4 100a run
quantize_nvfp4 100a run
'

build_one() { # name, capability, how far
  source=$root/fixtures/reference/$1.cu
  case $2 in *[af]) image=sm_$2 ;; *) image=compute_$2 ;; esac
  target="-gencode arch=compute_$2,code=$image"
  if [ "$3" = parse ]; then
    nice nvcc -std=c++17 $target -rdc=true -c "$source" -o /dev/null
  else
    nice nvcc -std=c++17 -O2 $target "$source" -o "$folder/$1.$2"
  fi >"$folder/$1.$2.log" 2>&1
}

can_run() { # target
  case $1 in
    *[af]) [ "$capability" = "${1%[af]}" ] ;;
    *) [ -n "$capability" ] && [ "$capability" -ge "$1" ] ;;
  esac
}

failed=0
ran=0
mkdir -p "$folder" || exit 1
capability=
if [ "$what" != build ]; then
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
  [ -n "$capability" ] || echo "skip: no card here, kernels are only built"
  [ -z "$capability" ] || echo "card: $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)"
fi
if [ "$what" != run ] && ! command -v nvcc >/dev/null; then
  echo "skip: no nvcc here"
  exit 77
fi

[ "$what" = run ] || nvcc --version | sed -n 's/.*release.*V/nvcc: /p'
while read -r name arch far; do
  [ -n "$name" ] || continue
  if [ "$what" != run ] && ! build_one "$name" "$arch" "$far"; then
    echo "FAIL $name: does not build: $(grep -m1 -i error "$folder/$name.$arch.log")"
    failed=1
  elif [ "$far" != run ] || ! can_run "$arch"; then
    if [ "$what" != run ]; then echo "built $name (sm_$arch)"; else echo "skip $name: needs sm_$arch"; fi
  else
    ran=$((ran + 1))
    output=$(timeout "$limit" "$folder/$name.$arch" 2>&1)
    status=$?
    line=$(printf '%s\n' "$output" | grep -E '^(PASS|FAIL)' | tail -1)
    [ "$status" -eq 0 ] || failed=1
    echo "${line:-FAIL $name: status $status, no verdict} (sm_$arch)"
  fi
done <<END
$kernels
END

[ "$failed" -eq 0 ] || exit 1
[ "$what" = build ] || [ "$ran" -gt 0 ] || exit 77
exit 0
