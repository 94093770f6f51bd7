package lock

import "os"

func shareOwner(*os.File, os.FileInfo, os.FileInfo) {}
