#include "cli/worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/limits.h"
#include "cli/work.h"
#include "cuda/cuda.h"

typedef struct {
  char *request;
  gsize length;
  CudaOpening *opening;
} Work;

static void *run_request(void *data) {
  Work *work = data;
  g_autoptr(Job) job = job_from_request(work->request, work->length);
  if (!job) {
    fputs("the request to the worker is not understood\n", stderr);
    exit(2);
  }
  job->opening = work->opening;
  work_run(job, NULL);
  return NULL;
}

bool worker_on_large_stack(void *run(void *), void *data) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, LIMIT_STACK);
  bool started = pthread_create(&thread, &attributes, run, data) == 0;
  if (started) pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  return started;
}

int worker_main(bool cuda) {
  /* libclang would otherwise parse on a thread of its own with a small stack. */
  g_setenv("LIBCLANG_NOTHREADS", "1", TRUE);
  Work work = {.opening = cuda ? cuda_open_start() : NULL};
  g_autoptr(GString) request = g_string_new(NULL);
  char buffer[65536];
  for (size_t count; (count = fread(buffer, 1, sizeof buffer, stdin)) > 0;)
    g_string_append_len(request, buffer, (gssize)count);
  work.request = request->str;
  work.length = request->len;
  if (!worker_on_large_stack(run_request, &work)) return 2;
  /* The system takes everything back faster than destructors do; a sanitizer wants to see them. */
  if (!WORK_UNDER_SANITIZER) _exit(0);
  cuda_open_free(work.opening);
  return 0;
}
