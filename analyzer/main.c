/* kcheck: finds, before anything runs, where a Hopper or Blackwell kernel hangs, races, overflows
 * or fails to launch. A run is this list:
 *
 *   cli      options, .kcheck.yaml, files -> one job a file          (cli/options, config, files)
 *   workers  each job in a process of its own, this program again    (cli/workers, worker)
 *   pipeline file -> Program -> machine, budget, source -> findings  (cli/pipeline)
 *   lsp      the same for an editor: documents, diagnostics         (lsp/)
 *   report   findings of all files -> text, JSON, SARIF ...          (report/)
 */
#include <locale.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/worker.h"

int main(int argc, char **argv) {
  /* Options and paths are UTF-8 whatever the locale says; messages and numbers stay as they are. */
  if (!setlocale(LC_CTYPE, "C.UTF-8")) setlocale(LC_CTYPE, "");
  if (argc == 2 && strcmp(argv[1], WORKER_FLAG) == 0) return worker_main(false);
  if (argc == 2 && strcmp(argv[1], WORKER_CUDA_FLAG) == 0) return worker_main(true);
  if (argc == 2 && strcmp(argv[1], WORKER_KEEP_FLAG) == 0) return worker_keep_main();
  return cli_run(argc, argv);
}
