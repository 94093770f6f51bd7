package pawl_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawlgo/pawl"
)

// The same script as with OpenFile, on a journal: a save costs what it changes.
func ExampleOpenState() {
	type State struct {
		Next     int      `json:"next"`
		Findings []string `json:"findings"`
	}
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	docs := []string{"alpha", "beta", "gamma"}

	script := func(dieAt int) error {
		ck, err := pawl.OpenState[State](filepath.Join(dir, "run-abc123.jsonl"))
		if err != nil {
			return err
		}
		defer ck.Close()
		var report string
		if done, err := ck.Result(&report); done || err != nil {
			fmt.Println("report:", report)
			return err
		}
		st := ck.State() // zero on a fresh start
		for i, d := range docs[st.Next:] {
			if i == dieAt {
				return fmt.Errorf("killed before %s", d)
			}
			fmt.Println("analyzing", d)
			st.Findings, st.Next = append(st.Findings, strings.ToUpper(d)), st.Next+1
			if err := ck.Save(st); err != nil {
				return err
			}
		}
		return ck.Complete(strings.Join(st.Findings, ", "))
	}
	fmt.Println(script(1))
	fmt.Println(script(-1))
	fmt.Println(script(-1))
	// Output:
	// analyzing alpha
	// killed before beta
	// analyzing beta
	// analyzing gamma
	// <nil>
	// report: ALPHA, BETA, GAMMA
	// <nil>
}
