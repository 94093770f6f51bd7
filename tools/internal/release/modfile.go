// Package release publishes the modules of a checkout to a folder that the go
// command takes for a module proxy, as if they had been tagged and pushed.
package release

import (
	"fmt"
	"slices"

	"golang.org/x/mod/modfile"
)

// Strip turns the go.mod of a checkout into the one of a release: replace lines
// of our own modules go, and what is required of them is the released version.
// versions maps the path of each released module to it.
func Strip(data []byte, versions map[string]string) ([]byte, error) {
	f, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Clone(f.Replace) {
		if versions[r.Old.Path] == "" {
			return nil, fmt.Errorf("replace of %s: no module of ours, and users would not get the replacement", r.Old.Path)
		}
		if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
			return nil, err
		}
	}
	for _, r := range slices.Clone(f.Require) {
		if v := versions[r.Mod.Path]; v != "" {
			if err := f.AddRequire(r.Mod.Path, v); err != nil {
				return nil, err
			}
		}
	}
	f.Cleanup()
	return f.Format()
}

// Order sorts the paths of modules so that each stands after those of them that
// it requires. mods maps each path to its go.mod.
func Order(mods map[string][]byte) ([]string, error) {
	requires := make(map[string][]string)
	var left []string
	for path, data := range mods {
		f, err := modfile.ParseLax("go.mod", data, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, r := range f.Require {
			if _, ours := mods[r.Mod.Path]; ours {
				requires[path] = append(requires[path], r.Mod.Path)
			}
		}
		left = append(left, path)
	}
	slices.Sort(left)
	var order []string
	for len(left) > 0 {
		i := slices.IndexFunc(left, func(path string) bool {
			return !slices.ContainsFunc(requires[path], func(r string) bool { return !slices.Contains(order, r) })
		})
		if i < 0 {
			return nil, fmt.Errorf("modules require each other in a circle: %v", left)
		}
		order = append(order, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return order, nil
}
