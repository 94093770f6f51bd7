//go:build race

package pawl_test

const raceEnabled = true
