//go:build !unix

package regular

// There are no such flags here; see flags_unix.go.
const (
	NoFollow = 0
	NoBlock  = 0
)
