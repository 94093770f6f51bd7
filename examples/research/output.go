package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ownReport returns the report's path inside the folder of documents, or "".
// A report that lies among the documents must not become one of them.
func (s settings) ownReport(folder string) string {
	out, err := filepath.Abs(s.out)
	if s.docs == "" || s.out == "-" || err != nil {
		return ""
	}
	rel, err := filepath.Rel(folder, out)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// deliver writes the files that the flags ask for. Everything in them is in
// the store, so they can be had again by the same command.
func deliver(set settings, out outcome, stdout io.Writer) error {
	if set.results != "" {
		results := map[string]any{}
		for _, it := range out.Items {
			results[it.Ref.ID()] = it.Analysis
		}
		b, err := json.Marshal(results)
		if err != nil {
			return err
		}
		if err := writeFile(set.results, b); err != nil {
			return err
		}
	}
	if set.out == "-" {
		_, err := io.WriteString(stdout, out.Report)
		return err
	}
	if err := writeFile(set.out, []byte(out.Report)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "%d documents, report: %s\n", len(out.Items), set.out)
	return err
}

// writeFile replaces the file at path as a whole: who reads it at the same
// time sees the old or the new one. It does not sync, since a power cut costs
// nothing but another start.
func writeFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
