// Package pawltest helps to test programs that use pawl.
//
// [NewStore] gives a test a store in memory: fast, with nothing to clean up, and
// otherwise like one in a directory. [CrashEverywhere] lets a program die at every
// change that it makes to its store and checks that the next start arrives at the same result.
// [Seed] begins where the expensive steps are over, [Strict] makes warnings errors, and
// [Clock] gives records their times.
//
// What a store in memory cannot show is what survives a real death: for that, kill a real
// process, and judge it with package witness.
package pawltest
