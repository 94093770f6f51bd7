package pawl

import "io/fs"

const (
	noFollow = 0
	noBlock  = 0
)

func ownerOf(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }
