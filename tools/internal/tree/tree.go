// Package tree answers what the checkout holds: its files, its modules, and
// what tools/modules.txt says about them. Nothing else in tools knows a folder
// of the repository by name, so a new module takes part in every target at once.
package tree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// RootModule is the path of the module at the root of the repository.
const RootModule = "github.com/pawlgo/pawl"

// Root returns the repository's root: the nearest folder at or above dir whose
// go.mod declares [RootModule].
func Root(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for d := dir; ; d = filepath.Dir(d) {
		data, err := os.ReadFile(filepath.Join(d, "go.mod"))
		if err == nil && modfile.ModulePath(data) == RootModule {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("no go.mod of %s at or above %s: run this inside the repository", RootModule, dir)
		}
	}
}

// Files returns the files of the checkout, sorted, as slash-separated paths
// relative to root: what git tracks, and what it would track if added. Without
// git (an unpacked archive, say) it returns every file that is not below a folder
// whose name starts with a dot.
func Files(root string) ([]string, error) {
	_, noGit := exec.LookPath("git")
	_, noRepo := os.Stat(filepath.Join(root, ".git"))
	if noGit != nil || noRepo != nil {
		return walk(root)
	}
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("git ls-files: %w: %s", err, bytes.TrimSpace(exit.Stderr))
		}
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var files []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name == "" {
			continue
		}
		// A file deleted but still in the index is listed too.
		if info, err := os.Lstat(filepath.Join(root, name)); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

func walk(root string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci":
			return fs.SkipDir
		case d.Type().IsRegular():
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// Hash returns a digest of the names and contents of all files of the checkout.
// Two checkouts with the same digest hold the same sources, committed or not.
func Hash(root string) (string, error) {
	files, err := Files(root)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%q %d\n", name, len(data))
		if _, err := io.Copy(sum, bytes.NewReader(data)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}
