/* The parent's side of a worker that lives from one check of a document to the next. It keeps the
 * document's translation units, so that a check after an edit need not read its headers again. */
#ifndef KC_CLI_KEPT_WORKER_H
#define KC_CLI_KEPT_WORKER_H

#include "cli/workers.h"

typedef struct KeptWorker KeptWorker;

/* A worker that is started with its first job; counted (kept_worker_unref). */
KeptWorker *kept_worker_new(void);
KeptWorker *kept_worker_ref(KeptWorker *worker);
/* The last one ends the process. */
void kept_worker_unref(KeptWorker *worker);
/* Runs a job in it, and starts it again when it has died. Jobs of several threads wait for each
 * other; one whose *cancelled is set is given up, and its result says nothing. Never NULL. */
JobResult *kept_worker_run(KeptWorker *worker, const Job *job, const gint *cancelled);

#endif
