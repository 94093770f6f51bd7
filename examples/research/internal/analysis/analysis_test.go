package analysis

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawlgo/pawl/examples/research/internal/docs"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestOfflineGolden holds the built-in method to recorded answers on pages of
// the shipped corpus and on one file of each other format.
func TestOfflineGolden(t *testing.T) {
	var pages []docs.Ref
	folders := map[docs.Ref]string{}
	for dir, names := range map[string][]string{
		"../../corpus/sqlite": {"isolation.html", "psow.html", "fullsql.html"},
		"testdata":            {"notes.md", "story.txt"},
	} {
		l, err := docs.List(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range l.Docs {
			for _, n := range names {
				if ref.Path == n {
					pages, folders[ref] = append(pages, ref), dir
				}
			}
		}
	}
	if len(pages) != 5 {
		t.Fatalf("%d of 5 documents found", len(pages))
	}
	for _, ref := range pages {
		t.Run(ref.Path, func(t *testing.T) {
			text, err := docs.Read(os.DirFS(folders[ref]), ref)
			if err != nil {
				t.Fatal(err)
			}
			a, err := Offline{}.Analyze(context.Background(), text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(a, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := filepath.Join("testdata", ref.Path+".golden.json")
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the analysis is not the recorded one (go test -update writes it anew); got\n%s", got)
			}
		})
	}
}

func TestOfflineCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (Offline{}).Analyze(ctx, docs.Text{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
