//go:build !linux

package vfs

import "errors"

// Touch does nothing: who looks from time to time sees the directory's time.
func (osFS) Touch(string) {}

// Watch is not to be had.
func (osFS) Watch(string, func(string), func()) (stop func(), err error) {
	return nil, errors.ErrUnsupported
}
