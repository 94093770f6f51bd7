// Package pawl makes long, expensive work resumable. When the process dies, by a
// crash, a deploy, the OOM killer, Ctrl-C or a power cut, the next start goes on
// where the last one stopped: no finished step is paid for twice, nothing
// acknowledged is lost, and the result of completed work is there for whoever asks
// again.
//
// # Two levels
//
// Level 1 keeps one state that a program loads, advances and saves as a whole:
// [OpenFile] in a JSON file, [OpenState] in a journal that costs only what changed.
//
// Level 2 makes the steps of a function durable: [Open] a store, [Do] a run in it,
// and inside it [Step] for a unit of work and [Map] for many at once. The run
// travels in the context: [Scope] tells equal names apart, [Note], [Try] and
// [IdempotencyKey] are for what a step does with the world, [LoadState] and [SaveState]
// for what is not worth a step.
//
// Steps that are tried again are the matter of package retry, what they use that of meter, how
// many run at once that of limit. Package wait is for times, package interrupt for signals; [Store.Cancel]
// stops a run from elsewhere. Package runs has what the methods of [Store] say of runs, package journal
// reads the files, package pawltest is for tests.
//
// # What happens on a second start
//
// Plain code runs again, steps with a recorded result do not:
//
//	call                                        later start
//	Do, run absent                              starts fresh; with MustExist ErrNotFound
//	Do, in progress                             fn runs from the top, in a new attempt
//	Do, failed                                  fn runs from the top, in a new attempt
//	Do, waiting                                 fn runs from the top, in a new attempt
//	Do, cancelled                               ErrCancelled: who, when, why; fn is not called until it is reopened
//	Do, its Deadline is over                    context.DeadlineExceeded: fn is not called; with a longer one it is
//	Do, complete                                the recorded result, byte for byte; fn is not called
//	Do, complete, another RunInput              ErrInputChanged; fn is not called; with IgnoreInput the recorded result
//	Do, owned by a live process                 ErrLocked: host, process, since
//	Do, unreadable                              ErrCorrupt or ErrNewerFormat: nothing runs, nothing is written
//	plain code between steps                    runs again
//	Step with a recorded result                 the record, decoded; its fn is not called
//	Step that failed                            its fn runs again; in one start too, if asked again
//	Step that is tried again, Policy            its series goes on: the rest of the wait, the tries that are left
//	Step that failed finally                    the same StepError; its fn is not called until it is retried
//	Step, the Budget is used up                 ErrBudget; with a higher one its fn runs
//	Step under way at n deaths in a row, MaxCrashes  ErrPoison, a final failure
//	Step under way at the death                 in doubt: runs again, with a higher Try and the same IdempotencyKey
//	Step under way at the death, AtMostOnce     ErrInDoubt until it is resolved; what is finished inside it stays so
//	Step under way at the death, input changed  ErrInputChanged; ErrInDoubt with AtMostOnce, whatever else is given
//	Step whose input changed                    ErrInputChanged with the JSON paths; the run stays resumable
//	Step that failed, input changed             ErrInputChanged if a result, a state or a note is recorded in it; else its fn runs
//	Step whose input changed, RerunOnChange     its fn runs; nothing that was recorded inside it is returned
//	Step whose input changed, IgnoreInput       the record; that it was ignored is in the history
//	Step that was renamed, Alias                what is recorded under the old key, with everything inside; nothing if it ran under the new one
//	Step that nobody asks for any more          kept, and counted in the record that completes the run
//	Map                                         only the items without a result, found by key
//	Map, an item failed before                  that item last, after those that were never tried
//	Map, an item is in doubt                    that item at the very end: ErrInDoubt, and the others run
//	Map, an item changed                        ErrInputChanged before any item runs; with RerunOnChange it runs
//	LoadState                                   the state that was saved last
//	SaveState before LoadState                  ErrStateNotLoaded if there is a state: it would go back; in a later try of one start too
//	Sleep                                       waits for the rest
//	Note                                        LoadNote returns the newest one to the next try
//
// What a run is after fn has ended, and what the next start does then:
//
//	how fn ends                               run
//	a value                                   complete: the result is returned, fn is not called again
//	an error                                  failed, with the error's text: a later start tries again
//	the run's context is done                 in progress, if fn returns an error: nothing counts as failed, finished steps are recorded
//	ErrWaiting                                waiting: nothing counts as failed
//	ErrCancelled, ErrLeaseLost                in progress: nothing counts as failed
//	the run's Deadline                        failed: the next start needs a longer one
//	cancelled by somebody                     cancelled: finished steps are recorded; it goes on when it is reopened
//	a step's own timeout                      an error like any other: the run's context is not done
//	a panic                                   failed, with its stack; the run is let go and the panic goes on
//	runtime.Goexit                            failed, with its stack; the run is let go
//	a panic in an item of a Map               as a panic, raised in the caller of Map when its other items have ended
//	os.Exit                                   in progress: the attempt has no end, steps under way are in doubt
//	SIGKILL or a power cut                    in progress: the attempt has no end, steps under way are in doubt
//
// docs/adr/0001-second-start.md has every cell with its reason.
//
// # What is durable when
//
// When [Step], [Run.Complete], [Checkpoint.Save] or [Checkpoint.Complete] return
// nil, their record was flushed to the device (fdatasync, F_FULLFSYNC,
// FlushFileBuffers): it survives kill -9 and power loss. What was not acknowledged
// may or may not be there, whole. A step that was under way at a death may have
// had its effect, and runs again.
//
// Each run has one owner at a time, by an operating system lock that ends with its
// process.
package pawl
