//go:build !race

package adk_test

const raceDetector = false
