package pawl

import "golang.org/x/sys/unix"

// isMountPoint reports whether a file is mounted by itself, as containers do with
// single files. Nothing can be renamed onto it then. Kernels before 5.8 do not
// tell; the first save does. (Comparing devices would tell wrong on overlayfs.)
func isMountPoint(path string) bool {
	var st unix.Statx_t
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_STATX_DONT_SYNC
	err := unix.Statx(unix.AT_FDCWD, path, flags, 0, &st)
	return err == nil && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
