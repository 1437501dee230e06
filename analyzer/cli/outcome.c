/* What came of a job: the worker's answer, or one line that says why there is none. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/files.h"
#include "cli/limits.h"
#include "cli/longest.h"
#include "cli/process.h"
#include "cli/verdict.h"

static bool ran_out_of_memory(const Worker *w) {
  static const char *const signs[] = {"out of memory", "bad_alloc", "failed to allocate",
                                      "Cannot allocate memory"};
  if (w->too_large) return true;
  for (size_t i = 0; i < G_N_ELEMENTS(signs); i++)
    if (strstr(w->messages->str, signs[i])) return true;
  return false;
}

/* The last stage that the worker announced. */
static char *last_stage(const Worker *w) {
  gsize length = w->answer->len;
  while (length > 0 && w->answer->str[length - 1] == '\n')
    length--;
  gsize start = length;
  while (start > 0 && w->answer->str[start - 1] != '\n')
    start--;
  return length > start ? g_strndup(w->answer->str + start, length - start) : g_strdup("start");
}

/* The place that a file most likely failed at while clang or the lowering read it: its longest
 * statement, when that is longer than anything written by hand. Line 0: none. */
static LongestStatement likely_place(const Job *job, const char *stage) {
  enum { SUSPICIOUS = 2000 };
  LongestStatement none = {0};
  g_autofree char *read = NULL;
  gsize length = job->length;
  if (job->is_ptx || !(g_str_has_prefix(stage, "parse") || g_str_has_prefix(stage, "lower")))
    return none;
  if (!job->text && !files_read(job->path, &read, &length, NULL)) return none;
  LongestStatement longest = longest_statement(job->text ? job->text : read, length);
  return longest.tokens >= SUSPICIOUS ? longest : none;
}

/* Says in one line why there is no answer. */
static void diagnose(const Worker *w, const Job *job, KcError *error) {
  g_autofree char *stage = last_stage(w);
  LongestStatement place = likely_place(job, stage);
  g_autofree char *where =
      place.line
          ? g_strdup_printf("%s; the statement that begins here has %u tokens", stage, place.tokens)
          : g_strdup(stage);
  int line = (int)place.line;
  bool slow = WIFSIGNALED(w->status) && WTERMSIG(w->status) == SIGXCPU;
  if (w->timed_out || slow) {
    double limit = (double)(slow ? limit_parse_us(job->timeout_us) : job->timeout_us) / 1e6;
    kc_fail(error, job->path, line, 0, "not checked: took longer than %.3g s (in stage: %s)", limit,
            where);
    kc_hint(error, "--timeout gives it more");
  } else if (ran_out_of_memory(w)) {
    kc_fail(error, job->path, line, 0,
            "not checked: needs more than %zu MB of memory (in stage: %s)", job->memory >> 20,
            where);
    kc_hint(error, "--memory-limit gives it more");
  } else if (WIFSIGNALED(w->status)) {
    kc_fail(error, job->path, line, 0, "not checked: the checker crashed on it (%s, in stage: %s)",
            g_strsignal(WTERMSIG(w->status)), where);
    kc_hint(error, "%s", place.line ? "break the statement up" : "please report it with the file");
  } else {
    kc_fail(error, job->path, line, 0, "not checked: the checker stopped on it (in stage: %s)",
            where);
    kc_hint(error, "--verbose shows what it said");
  }
}

/* Reads the last line of the answer; false when it is not there. */
static bool read_answer(const Worker *w, JobResult *result, KcError *error) {
  const char *brace = w->answer->str;
  if (*brace != '{') {
    brace = strstr(w->answer->str, "\n{");
    if (!brace) return false;
    brace++;
  }
  json_t *json = json_loads(brace, JSON_DISABLE_EOF_CHECK, NULL);
  if (!json) return false;
  result->output = g_strdup(json_string_value(json_object_get(json, "output")));
  bool read = report_from_json(result->report, json_object_get(json, "report"), error);
  json_decref(json);
  return read;
}

void outcome_fail(const Job *job, JobResult *result, KcError *error) {
  ReportFile *file = report_file_new(job->path, "checked");
  verdict_failed(file, error);
  for (guint i = 0; i < job->targets->len; i++)
    g_ptr_array_add(file->archs, g_strdup(((JobTarget *)job->targets->pdata[i])->arch));
  g_ptr_array_add(result->report->files, file);
  kc_error_clear(error);
}

void outcome_take(Worker *w, const Job *job, JobResult *result) {
  KcError error = {0};
  bool ended =
      !w->timed_out && !w->too_large && WIFEXITED(w->status) && WEXITSTATUS(w->status) == 0;
  if (!ended || !read_answer(w, result, &error)) {
    kc_error_clear(&error);
    diagnose(w, job, &error);
    outcome_fail(job, result, &error);
  }
  if (w->messages->len > 0)
    result->log = g_utf8_make_valid(w->messages->str, (gssize)w->messages->len);
  kc_error_clear(&error);
}
