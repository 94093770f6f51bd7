//go:build !windows

package vfs

import "os"

func rename(oldname, newname string) error { return os.Rename(oldname, newname) }

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
