// Package limit keeps all runs of a process together within what a service allows: so many
// calls at once, so many in a time, and none while the service wants to be left alone.
//
//	var openai = limit.New("openai", 8, limit.PerMinute(500))
//
//	answer, err := pawl.Step(ctx, "call", ask, openai)
//	found, err := pawl.Map(ctx, "analyze", docs, byPath, analyze, pawl.Parallel(8), openai)
//
// A [Limiter] is an option of pawl.Step and pawl.Map: each try of the step's function waits
// for its turn, which is no part of its timeout, and an answer from the record does not wait. The
// limit holds over all runs, and by [Limiter.Acquire] for calls outside of steps too. When the
// error of a try says how long the service wants to be left alone (retry.After, or a method
// RetryAfter() time.Duration anywhere in its chain), nobody who uses the name begins before that:
// not only the one who was told.
//
// Turns are given first come, first served, over all runs: one with a thousand items does not
// keep others waiting for longer than the items that came before theirs. Who waits can be
// cancelled at any time and holds up nobody then.
//
// # What the rate means
//
// Calls are spaced evenly. 500 a minute is one every 120 ms, not 500 in the first second of each
// minute, so it does not matter when the minutes of the service begin: no minute sees more than
// 500. What is not used is not saved up, unless [Rate.Burst] says so. It is the generic cell rate
// algorithm of ITU-T recommendation I.371, used for shaping: one time says all that is known of
// the past.
//
// The spacing is that of the moments at which calls begin here. A call that is slow on its way
// and one that is fast behind it arrive closer together: at worst a window of the service sees as
// many on top as may run at once. Where it counts strictly, take a little less than it allows.
//
// Where calls are less than 20 ms apart, one that a late timer held up does not delay those behind
// it: they begin up to 2 ms earlier than evenly, still with no more than the rate in any window of
// its time.
//
// Nothing is shared between processes: with four of them, give each a quarter.
package limit
