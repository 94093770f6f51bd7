package tree

import (
	"bufio"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
)

// A Module is one Go module of the repository.
type Module struct {
	Path     string        // its import path
	Dir      string        // its folder, relative to the root, with slashes; "." for the root
	Files    []string      // its files, relative to Dir, nested modules left out
	Budget   time.Duration // what its tests may take, from modules.txt
	Released bool          // whether users fetch it, from modules.txt
}

// GoFiles returns the module's Go source files, relative to its folder, without
// those that the go command ignores (testdata, names that start with _ or a dot).
func (m Module) GoFiles() []string {
	return slices.DeleteFunc(slices.Clone(m.Files), func(name string) bool {
		return path.Ext(name) != ".go" || ignored(name)
	})
}

// Modules returns the modules of the checkout at root that hold Go code, in the
// order of tools/modules.txt, those that it does not name last.
func Modules(root string) ([]Module, error) {
	files, err := Files(root)
	if err != nil {
		return nil, err
	}
	table, err := LoadTable(root)
	if err != nil {
		return nil, err
	}
	return modules(root, files, table)
}

func modules(root string, files []string, table Table) ([]Module, error) {
	var all []Module
	for _, name := range files {
		if path.Base(name) != "go.mod" || ignored(name) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		m := Module{Path: modfile.ModulePath(data), Dir: path.Dir(name)}
		if m.Path == "" {
			return nil, fmt.Errorf("%s: no module line", name)
		}
		line := table.Line(m.Dir)
		m.Budget, m.Released = line.Budget, line.Released
		all = append(all, m)
	}
	for _, name := range files {
		if owner := ownerOf(all, name); owner != nil {
			owner.Files = append(owner.Files, strings.TrimPrefix(name, prefix(owner.Dir)))
		}
	}
	all = slices.DeleteFunc(all, func(m Module) bool { return len(m.GoFiles()) == 0 })
	slices.SortStableFunc(all, func(a, b Module) int { return table.order(a.Dir) - table.order(b.Dir) })
	return all, nil
}

// ownerOf returns the innermost module that holds the named file.
func ownerOf(all []Module, name string) *Module {
	var owner *Module
	for i := range all {
		p := prefix(all[i].Dir)
		if strings.HasPrefix(name, p) && (owner == nil || len(p) > len(prefix(owner.Dir))) {
			owner = &all[i]
		}
	}
	return owner
}

// prefix is what the names of the files in dir start with.
func prefix(dir string) string {
	if dir == "." {
		return ""
	}
	return dir + "/"
}

// ignored tells whether the go command ignores the named file.
func ignored(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "testdata" || part == "vendor" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".")
	})
}

// A Table is the content of modules.txt.
type Table struct {
	Total time.Duration // the bound on all suites together
	lines []Line
}

// A Line is what modules.txt says about one module, or, with the module "*",
// about all that have no line of their own.
type Line struct {
	Module   string
	Budget   time.Duration
	Released bool
}

// LoadTable reads tools/modules.txt of the checkout at root.
func LoadTable(root string) (Table, error) {
	data, err := os.ReadFile(filepath.Join(root, "tools", "modules.txt"))
	if err != nil {
		return Table{}, err
	}
	return ParseTable(string(data))
}

// ParseTable reads the text of a modules.txt.
func ParseTable(text string) (Table, error) {
	var t Table
	sc := bufio.NewScanner(strings.NewReader(text))
	for n := 1; sc.Scan(); n++ {
		fields := strings.Fields(sc.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		isTotal := fields[0] == "total" && len(fields) == 2
		if !isTotal && (len(fields) != 3 || fields[2] != "yes" && fields[2] != "no") {
			return t, fmt.Errorf("modules.txt:%d: want `module budget yes|no` or `total budget`, have %q", n, sc.Text())
		}
		budget, err := time.ParseDuration(fields[1])
		if err != nil || budget <= 0 {
			return t, fmt.Errorf("modules.txt:%d: %q is no budget; write it like 90s or 2m", n, fields[1])
		}
		if isTotal {
			t.Total = budget
			continue
		}
		t.lines = append(t.lines, Line{Module: fields[0], Budget: budget, Released: fields[2] == "yes"})
	}
	if t.Total == 0 || t.order("*") == len(t.lines) {
		return t, fmt.Errorf("modules.txt: the lines `total` and `*` are needed")
	}
	return t, nil
}

// Line returns the line that holds for the module in dir.
func (t Table) Line(dir string) Line {
	if i := t.order(dir); i < len(t.lines) {
		return t.lines[i]
	}
	return t.lines[t.order("*")]
}

// order returns the position of dir's own line, or the number of lines.
func (t Table) order(dir string) int {
	for i, l := range t.lines {
		if l.Module == dir {
			return i
		}
	}
	return len(t.lines)
}
