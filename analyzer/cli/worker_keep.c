/* The worker of one document of the language server: it lives as long as the document is open. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/guess.h"
#include "cli/limits.h"
#include "cli/pipeline.h"
#include "cli/work.h"
#include "cli/worker.h"
#include "cuda/cuda.h"

typedef struct {
  CudaOpening *opening;
  CudaKept *kept;
  LazyRules *rules;
  bool *newer; /* in memory that the forks share */
  pid_t child; /* that has ended and not been waited for, or 0 */
} Keeper;

/* The next request, with the text behind its line; NULL at the end of the input. */
static GString *read_request(void) {
  char *line = NULL;
  size_t room = 0;
  ssize_t length = getline(&line, &room, stdin);
  json_t *json = length > 0 ? json_loadb(line, (size_t)length, 0, NULL) : NULL;
  GString *request = NULL;
  if (json) {
    gsize text = (gsize)json_integer_value(json_object_get(json, "length"));
    request = g_string_new_len(line, length);
    g_string_set_size(request, (gsize)length + text);
    if (fread(request->str + length, 1, text, stdin) != text) {
      g_string_free(request, TRUE);
      request = NULL;
    }
  }
  json_decref(json);
  free(line);
  return request;
}

/* Parses for each target of the job, so that its fork finds the units. */
static void keep_units(Keeper *keeper, const GString *request) {
  KcError error = {0};
  g_autoptr(Job) job = job_from_request(request->str, request->len);
  ReportFile *file = job ? report_file_new(job->path, "checked") : NULL;
  if (job && work_prepare(job, file, &error)) {
    job->opening = keeper->opening;
    job->kept = keeper->kept;
    if (job->default_arch && *keeper->newer) job_add_target(job, GUESS_NEWER, false);
    work_limit_time(limit_parse_us(job->timeout_us));
    cuda_keep_begin(keeper->kept);
    for (guint i = 0; i < job->targets->len; i++)
      pipeline_keep(job, job->targets->pdata[i], work_tell_stage);
    cuda_keep_end(keeper->kept);
    work_limit_time(0);
  }
  if (file) report_file_free(file);
  kc_error_clear(&error);
}

/* The job itself, in the fork; does not return. */
static void run_job(Keeper *keeper, const GString *request) {
  Job *job = job_from_request(request->str, request->len);
  printf("pid %ld\n", (long)getpid());
  if (!job) _exit(2);
  job->opening = keeper->opening;
  job->kept = keeper->kept;
  job->newer = keeper->newer;
  work_run(job, keeper->rules);
  _exit(0);
}

/* Says how the fork ended. Its last line may have been cut short. */
static void tell_end(pid_t child) {
  siginfo_t end = {0};
  while (waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  printf("\nend %s %d\n", end.si_code == CLD_EXITED ? "exit" : "signal", end.si_status);
  fflush(stdout);
}

static void serve_request(Keeper *keeper, const GString *request) {
  if (keeper->child > 0) waitpid(keeper->child, NULL, 0);
  keep_units(keeper, request);
  fflush(stdout);
  keeper->child = fork();
  if (keeper->child == 0) run_job(keeper, request);
  if (keeper->child < 0) {
    printf("\nend exit 2\n");
    fflush(stdout);
  } else {
    tell_end(keeper->child);
  }
  cuda_keep_rest(keeper->kept);
}

static void *serve(void *data) {
  Keeper *keeper = data;
  /* A fork has no other threads: what one of them holds must be there before. */
  keeper->rules = lazy_rules_start();
  lazy_rules_get(keeper->rules, NULL);
  for (GString *request; (request = read_request()) != NULL;) {
    serve_request(keeper, request);
    g_string_free(request, TRUE);
  }
  return NULL;
}

int worker_keep_main(void) {
  g_setenv("LIBCLANG_NOTHREADS", "1", TRUE);
  Keeper keeper = {.opening = cuda_open_start(), .kept = cuda_keep_new()};
  keeper.newer =
      mmap(NULL, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (keeper.newer == MAP_FAILED) return 2;
  setrlimit(RLIMIT_CORE, &(struct rlimit){0});
  if (!worker_on_large_stack(serve, &keeper)) return 2;
  if (!WORK_UNDER_SANITIZER) _exit(0);
  cuda_keep_free(keeper.kept);
  lazy_rules_free(keeper.rules);
  cuda_open_free(keeper.opening);
  return 0;
}
