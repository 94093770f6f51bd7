package pawl_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlgo/pawl"
)

// A batch over documents, resumable with one file. Its first start is cut short
// after two documents; the second goes on with the third; the third finds the work
// complete and does nothing.
func ExampleOpenFile() {
	dir, err := os.MkdirTemp("", "pawl-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	type State struct {
		Next     int      `json:"next"`
		Findings []string `json:"findings"`
	}
	docs := []string{"alpha", "beta", "gamma", "delta"}

	run := func(stopBefore int) error {
		ck, err := pawl.OpenFile[State](filepath.Join(dir, "checkpoints", "run-abc123.json"))
		if err != nil {
			return err
		}
		defer ck.Close()

		var report string
		if done, err := ck.Result(&report); err != nil || done {
			fmt.Println("complete already:", report)
			return err
		}
		st := ck.State()
		for st.Next < len(docs) {
			if st.Next == stopBefore {
				return fmt.Errorf("killed before %s", docs[st.Next])
			}
			fmt.Println("reading", docs[st.Next])
			st.Findings = append(st.Findings, strings.ToUpper(docs[st.Next]))
			st.Next++
			if err := ck.Save(st); err != nil { // durable when it returns nil
				return err
			}
		}
		return ck.Complete(strings.Join(st.Findings, " "))
	}

	fmt.Println(run(2))
	fmt.Println(run(-1))
	fmt.Println(run(-1))
	// Output:
	// reading alpha
	// reading beta
	// killed before gamma
	// reading gamma
	// reading delta
	// <nil>
	// complete already: ALPHA BETA GAMMA DELTA
	// <nil>
}

// A field was renamed between the crash and the resume. The state takes a version,
// and a migration brings older ones up to it.
func ExampleMigrate() {
	dir, err := os.MkdirTemp("", "pawl-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.json")

	old, err := pawl.OpenFile[map[string]int](path)
	if err != nil {
		log.Fatal(err)
	}
	if err := old.Save(map[string]int{"cursor": 3}); err != nil {
		log.Fatal(err)
	}
	if err := old.Close(); err != nil {
		log.Fatal(err)
	}

	type State struct {
		Position int `json:"position"`
	}
	renameCursor := func(state []byte) ([]byte, error) {
		return []byte(strings.Replace(string(state), `"cursor"`, `"position"`, 1)), nil
	}
	ck, err := pawl.OpenFile[State](path,
		pawl.UnversionedAs(1),         // what the old program wrote
		pawl.Migrate(1, renameCursor)) // 1 → 2, the version of State
	if err != nil {
		log.Fatal(err)
	}
	defer ck.Close()
	fmt.Printf("%+v\n", ck.State())
	// Output:
	// {Position:3}
}
