//go:build !linux

package vfs

func (o osFS) Identify(f File, name string) (bool, int64, error) { return o.identifyByStat(f, name) }
