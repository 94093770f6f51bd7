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
// travels in the context.
//
// # What happens on a second start
//
// Plain code runs again, steps with a recorded result do not:
//
//	call                                 second start
//	Do, in progress or failed            fn runs from the top, in a new attempt
//	Do, complete                         the recorded result; fn is not called
//	Do, owned by a live process          ErrLocked: host, process, since
//	Do, unreadable                       ErrCorrupt; never a fresh start, never overwritten
//	code between steps                   runs again
//	Step with a result                   the record; fn is not called
//	Step that failed                     fn runs again
//	Step under way at the death          in doubt: fn runs again, as a further try
//	Step whose input changed             ErrInputChanged, or a new run of it with RerunOnChange
//	Map                                  the items without a result, found by key
//	SIGKILL or power cut at any moment   as above: what was acknowledged is there
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
