// Package pawltest helps to test programs that use pawl.
//
// [NewStore] gives a test a store in memory: fast, with nothing to clean up, and
// otherwise like one in a directory. What it cannot show is what survives a crash: for
// that, kill a real process, and judge it with package witness.
package pawltest
