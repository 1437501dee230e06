;;; A session in a headless Emacs with eglot: diagnostics, hover, code action, an edit.  Writes what
;;; it saw to $KCHECK_TEST_OUT as JSON.  Emacs from 27 on, with eglot.
(require 'json)
(require 'package)
(package-initialize)
(require 'eglot)

(defvar seen nil)
(defun see (key value) (push (cons key value) seen))

(defmacro wait-until (&rest condition)
  "Let processes and timers run until CONDITION holds, or half a minute is over."
  `(let ((deadline (+ (float-time) 30)) (done nil))
     (while (and (not (setq done (progn ,@condition))) (< (float-time) deadline))
       (accept-process-output nil 0.05))
     done))

(defun texts ()
  "The messages of the buffer's diagnostics."
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))

(define-derived-mode cuda-mode c++-mode "CUDA")
(add-to-list 'auto-mode-alist '("\\.cuh?\\'" . cuda-mode))
(add-to-list 'eglot-server-programs (list 'cuda-mode (getenv "KCHECK_TEST_BINARY") "lsp"))

(condition-case why
    (progn
      (setq eglot-sync-connect 30 eglot-autoshutdown nil flymake-no-changes-timeout 0.1)
      (find-file (getenv "KCHECK_TEST_FILE"))
      (see 'mode (symbol-name major-mode))
      (apply #'eglot (eglot--guess-contact))
      (flymake-mode 1)
      (wait-until (flymake-start) (texts))
      (see 'opened (vconcat (texts)))
      (let ((d (car (flymake-diagnostics))))
        (goto-char (flymake-diagnostic-beg d))
        (see 'line (line-number-at-pos)))
      (let ((hover (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams))))
        (see 'hover (plist-get (plist-get hover :contents) :value)))
      (let* ((position (eglot--pos-to-lsp-position))
             (actions (jsonrpc-request (eglot-current-server) :textDocument/codeAction
                                       (list :textDocument (eglot--TextDocumentIdentifier)
                                             :range (list :start position :end position)
                                             :context (list :diagnostics [])))))
        (see 'titles (vconcat (mapcar (lambda (a) (plist-get a :title)) actions)))
        (eglot--apply-workspace-edit (plist-get (aref actions 0) :edit)))
      (eglot--signal-textDocument/didChange)
      (wait-until (flymake-start) (null (texts)))
      (see 'suppressed (vconcat (texts)))
      (see 'text (buffer-string))
      (goto-char (point-min))
      (search-forward "// kcheck:")
      (delete-region (line-beginning-position) (1+ (line-end-position)))
      (eglot--signal-textDocument/didChange)
      (wait-until (flymake-start) (texts))
      (see 'undone (vconcat (texts)))
      (goto-char (point-min))
      (search-forward "wait(bar, 0);")
      (replace-match "wait(bar, 1);")
      (eglot--signal-textDocument/didChange)
      (wait-until (flymake-start) (null (texts)))
      (see 'fixed (vconcat (texts)))
      (eglot-shutdown (eglot-current-server))
      (see 'stopped t))
  (error (see 'failed (format "%S" why))))

(with-temp-file (getenv "KCHECK_TEST_OUT") (insert (json-encode seen)))
(set-buffer-modified-p nil)
(kill-emacs)
