package release

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// Publish puts the module whose files lie in dir into the proxy folder, as
// version v of path: the four files that the protocol asks for.
// See https://go.dev/ref/mod#goproxy-protocol.
func Publish(proxy, dir, path, v string) error {
	escaped, err := module.EscapePath(path)
	if err != nil {
		return err
	}
	base := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(base, 0o777); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{v, time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"list":      []byte(v + "\n"),
		v + ".mod":  mod,
		v + ".info": info,
	} {
		if err := os.WriteFile(filepath.Join(base, name), data, 0o666); err != nil {
			return err
		}
	}
	f, err := os.Create(filepath.Join(base, v+".zip"))
	if err != nil {
		return err
	}
	err = zip.CreateFromDir(f, module.Version{Path: path, Version: v}, dir)
	return errors.Join(err, f.Close())
}
