package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pawlgo/pawl/journal"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, and the formats that it reads",
		GroupID: "more",
		Example: `  pawl version
  pawl version --json | jq -r .pawl`,
		Long:        `A file of a newer format is refused and left untouched.`,
		Args:        noArgs,
		Annotations: map[string]string{"exit": ""},
		RunE: func(*cobra.Command, []string) error {
			v := release()
			if a.json {
				a.out.json(v)
				return nil
			}
			a.out.line("pawl " + v.Pawl)
			a.out.fields(fields{
				{"library", v.Library},
				{"go", fmt.Sprintf("%s %s/%s", v.Go, v.OS, v.Arch)},
				{"journal", fmt.Sprintf("format 1 to %d", v.Formats.Journal)},
			})
			return nil
		},
	}
}

type versionJSON struct {
	head
	Pawl    string `json:"pawl"`    // of this command
	Library string `json:"library"` // of the module github.com/pawlgo/pawl in it
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Formats struct {
		Journal int `json:"journal"` // the newest that it reads
	} `json:"formats"`
}

// release takes the version from what the go command wrote into the binary.
func release() versionJSON {
	v := versionJSON{head: head{"Version", 1}, Pawl: "unknown", Library: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	v.Formats.Journal = journal.Format
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Pawl = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && v.Pawl == "(devel)" {
			v.Pawl = "devel " + s.Value[:min(12, len(s.Value))]
		}
	}
	if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == "github.com/pawlgo/pawl" }); i >= 0 {
		v.Library = info.Deps[i].Version
		if info.Deps[i].Replace != nil {
			v.Library = "(devel)" // built in the repository
		}
	}
	return v
}
