// Package interrupt ends a program in two stages when SIGTERM or Ctrl-C comes: first its
// context ends and it has a grace to stop by itself; then it exits, whatever it is doing.
//
//	func main() {
//		ctx, stop := interrupt.Context(context.Background(), 10*time.Second)
//		defer stop()
//		err := work(ctx) // calls pawl.Do(ctx, ...)
//		if err != nil {
//			fmt.Fprintln(os.Stderr, err)
//		}
//		os.Exit(interrupt.ExitCode(ctx, err)) // 130 after Ctrl-C, 143 after SIGTERM
//	}
//
// What has finished is recorded either way, and does not run again on the next start. What
// is under way decides for itself what the first signal means: a step that returns when its
// context is done is cut short and runs again later; one that goes on and ends within the
// grace is recorded as ever; one that outlives the grace is in doubt, as after a crash, and
// runs again later (with pawl.AtMostOnce it waits to be resolved).
//
// A program that keeps one state, with pawl.OpenFile or pawl.OpenState, looks at the
// context between two saves:
//
//	for st.Next < len(docs) {
//		if ctx.Err() != nil {
//			break // what was saved is there on the next start
//		}
//		...
//	}
//	if ctx.Err() != nil {
//		return context.Cause(ctx)
//	}
package interrupt
