//go:build race

package journalfile_test

const raceEnabled = true
