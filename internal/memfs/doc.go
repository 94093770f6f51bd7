// Package memfs is a file system in memory: nothing outlives the process, and nothing
// is slow. It implements [vfs.FS] with locks of its own, so that a store can live
// wholly in memory, as tests want it.
//
// It keeps no history and knows no power cut; package crashfs does. There are no
// links but hard ones, no owners, and no clock. It is safe for concurrent use.
package memfs
