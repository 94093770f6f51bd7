// Package corpus holds the documents that the research example reads when it
// is given none. They travel in the program, so it works from anywhere.
// README.md in this folder says where they come from, COPYRIGHT under which
// terms.
package corpus

import (
	"embed"
	"io/fs"
)

//go:embed sqlite
var files embed.FS

// FS returns the documents.
func FS() fs.FS {
	sub, err := fs.Sub(files, "sqlite")
	if err != nil {
		panic(err) // the name is the one embedded above
	}
	return sub
}
