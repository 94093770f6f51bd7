package release

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawlgo/pawl/tools/internal/tree"
)

// Stage copies the files of module m of the checkout at root into dir, with the
// go.mod of a release. A module without a license of its own gets the root's, as
// the go command does it when it packs a nested module.
func Stage(root string, m tree.Module, dir string, versions map[string]string) error {
	for _, name := range m.Files {
		data, err := os.ReadFile(filepath.Join(root, m.Dir, name))
		if err != nil {
			return err
		}
		if name == "go.mod" {
			if data, err = Strip(data, versions); err != nil {
				return err
			}
		}
		if err := write(filepath.Join(dir, name), data); err != nil {
			return err
		}
	}
	license := filepath.Join(dir, "LICENSE")
	if _, err := os.Stat(license); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return err
	}
	return write(license, data)
}

func write(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o666)
}
