package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pawlgo/pawl"
)

// mkrun STORE ID STATE makes a run in a store, for scripts:
//
//	complete     a Map of three, a step, and a result
//	failed       a Map of three, one of which fails
//	interrupted  three steps done, the process ends within the fourth
//	once         one step done; the process ends within two, one of which must not run
//	             twice and noted something; it has labels
//	various      what the others do not have: notes, states of scopes, a renamed step, an
//	             input that changed
//	running      one step done, the second goes on until the file "release" exists;
//	             the file "ready" says that it has begun
//	compacting   the same, and then the journal is compacted
//	big N SIZE   N steps of SIZE bytes each; then the run is let go
//	empty        a store without runs
//	…            more, in mkrun_limits_test.go and mkrun_asks_test.go
//
// and, with a file in place of a store, checkpoints saved twice: file, file-complete,
// file-exact (a result that is not compact), state and state-complete; and saved more
// often: file-versions, file-cleared (completed and begun anew), file-schema,
// state-schema (with a schema version), state-delta (by patches). file-held holds it
// until "release".
func mkrunMain() {
	if err := mkrun(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mkrun:", err)
		os.Exit(1)
	}
}

func mkrun(args []string) error {
	if strings.HasPrefix(args[1], "file") || strings.HasPrefix(args[1], "state") {
		return mkcheckpoint(args[0], args[1])
	}
	s, err := pawl.Open(args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	if len(args) == 2 && args[1] == "empty" {
		return nil
	}
	// A Unicode escape lets scripts name what they cannot hold.
	id, err := strconv.Unquote(`"` + args[1] + `"`)
	if err != nil {
		return err
	}
	ctx := context.Background()
	opts := []pawl.RunOption{pawl.RunKind("research"), pawl.RunInput(map[string]any{"dir": "docs"})}
	var fn func(ctx context.Context) (map[string]int, error)
	switch args[2] {
	case "complete":
		fn = func(ctx context.Context) (map[string]int, error) { return research(ctx, "") }
	case "failed":
		fn = func(ctx context.Context) (map[string]int, error) { return research(ctx, "c.txt") }
	case "interrupted":
		fn = func(ctx context.Context) (map[string]int, error) {
			return pages(ctx, 5, func(i int) {
				if i == 4 {
					os.Exit(0)
				}
			})
		}
	case "once":
		opts = append(opts, pawl.Label("team", "search"), pawl.Label("tier", "a=b"))
		fn = once
	case "various":
		return various(ctx, s, id)
	case "running":
		fn = func(ctx context.Context) (map[string]int, error) {
			return pages(ctx, 2, func(i int) {
				if i == 2 {
					untilReleased()
				}
			})
		}
	case "compacting":
		return compacting(ctx, s, id)
	case "big":
		n, err := strconv.Atoi(args[3])
		size, sizeErr := strconv.Atoi(args[4])
		if err = errors.Join(err, sizeErr); err != nil {
			return err
		}
		return big(ctx, s, id, n, size)
	default:
		if mklimited(ctx, s, id, args[2]) {
			return nil
		}
		return fmt.Errorf("unknown state %q", args[2])
	}
	_, err = pawl.Do(ctx, s, id, fn, opts...)
	if err != nil && args[2] == "failed" {
		return nil
	}
	return err
}

func mkcheckpoint(path, what string) error {
	open, saves := pawl.OpenFile[map[string]int], 2
	var opts []pawl.FileOption
	if strings.HasPrefix(what, "state") {
		open = pawl.OpenState[map[string]int]
	}
	kind, variant, _ := strings.Cut(what, "-")
	switch variant {
	case "versions", "cleared", "held":
		opts, saves = []pawl.FileOption{pawl.KeepVersions(4)}, 5
	case "schema":
		same := func(state []byte) ([]byte, error) { return state, nil }
		opts, saves = []pawl.FileOption{pawl.Migrate(6, same)}, 5
		if kind == "file" {
			opts = append(opts, pawl.KeepVersions(4))
		}
	case "delta":
		saves = 20
	}
	ck, err := open(path, opts...)
	if err != nil {
		return err
	}
	for i := range saves {
		state := map[string]int{"next": i}
		if variant == "delta" { // so large that a patch pays
			for k := range 200 + i {
				state[fmt.Sprint("member-", k)] = k
			}
		}
		err = errors.Join(err, ck.Save(state))
	}
	switch variant {
	case "held":
		untilReleased()
	case "complete":
		err = errors.Join(err, ck.Complete("done"))
	case "cleared":
		err = errors.Join(err, ck.Complete("done"), ck.Clear(), ck.Save(map[string]int{"next": 100}))
	case "exact":
		err = errors.Join(err, ck.Complete(json.RawMessage("{ \"a\": \"\u00e9\" }")))
	}
	return errors.Join(err, ck.Close())
}

func research(ctx context.Context, bad string) (map[string]int, error) {
	docs := []string{"a.txt", "b.txt", "c.txt"}
	words, err := pawl.Map(ctx, "analyze", docs, func(d string) string { return d }, func(_ context.Context, d string) (int, error) {
		if d == bad {
			return 0, errors.New("the model said no\nand \x1b[31mwhy")
		}
		return 14, nil
	}, pawl.Parallel(1))
	if err != nil {
		return nil, err
	}
	return pawl.Step(ctx, "report", func(context.Context) (map[string]int, error) {
		return map[string]int{"words": words[0] + words[1] + words[2]}, nil
	})
}

func pages(ctx context.Context, n int, within func(i int)) (map[string]int, error) {
	for i := 1; i <= n; i++ {
		_, err := pawl.Step(ctx, fmt.Sprint("page-", i), func(context.Context) (string, error) {
			within(i)
			return "secret payload", nil
		})
		if err != nil {
			return nil, err
		}
	}
	return map[string]int{"pages": n}, nil
}

func once(ctx context.Context) (map[string]int, error) {
	_, err := pawl.Step(ctx, "fetch", func(context.Context) (int, error) { return 1, nil })
	if err != nil {
		return nil, err
	}
	return pawl.Step(ctx, "order 1", func(ctx context.Context) (map[string]int, error) {
		return pawl.Step(ctx, "pay", func(ctx context.Context) (map[string]int, error) {
			if err := pawl.Note(ctx, map[string]string{"job": "j-7\x1b[31m\u202e"}); err != nil {
				return nil, err
			}
			os.Exit(0)
			return nil, nil
		}, pawl.AtMostOnce())
	})
}

func various(ctx context.Context, s *pawl.Store, id string) error {
	for i := range 2 {
		_, err := pawl.Do(ctx, s, id, func(ctx context.Context) (int, error) {
			scope := pawl.Scope(ctx, "scope")
			n, _, err := pawl.LoadState[int](scope)
			err = errors.Join(err, pawl.SaveState(scope, n+1))
			value := func(ctx context.Context) (int, error) { return i, pawl.Note(ctx, fmt.Sprint("note ", i)) }
			opts := []pawl.StepOption{pawl.WithInput(i), pawl.RerunOnChange()}
			_, changed := pawl.Step(ctx, "changes", value, opts...)
			name, opts := "old", opts[:0]
			if i > 0 {
				name, opts = "new", append(opts, pawl.Alias("old"))
			}
			_, renamed := pawl.Step(ctx, name, value, opts...)
			return i, errors.Join(err, changed, renamed, errors.New("stop\x1b"))
		})
		if err == nil {
			return errors.New("no error")
		}
	}
	return nil
}

func compacting(ctx context.Context, s *pawl.Store, id string) error {
	r, err := s.Begin(ctx, id)
	if err != nil {
		return err
	}
	rctx := r.Context(ctx)
	step := func(key string) {
		_, stepErr := pawl.Step(rctx, key, func(context.Context) (int, error) { return 1, nil })
		err = errors.Join(err, stepErr)
	}
	step("before")
	untilReleased()
	err = errors.Join(err, r.Compact())
	step("behind")
	return errors.Join(err, r.Complete("done"), r.Close())
}

func untilReleased() {
	os.WriteFile("ready", nil, 0o666)
	for !exists("release") {
		time.Sleep(10 * time.Millisecond)
	}
}

// big makes a run of many steps that share their syncs.
func big(ctx context.Context, s *pawl.Store, id string, n, size int) error {
	r, err := s.Begin(ctx, id)
	if err != nil {
		return err
	}
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	payload := strings.Repeat("x", size)
	_, err = pawl.Map(r.Context(ctx), "item", items, strconv.Itoa, func(context.Context, int) (string, error) { return payload, nil }, pawl.Parallel(64))
	return errors.Join(err, r.Close())
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

var headRE = regexp.MustCompile(`^\{"crc":"([0-9a-f]{8})","len":(\d+),"prev":"([0-9a-f]{8})",(.*)$`)

// rewriteRecord replaces text in the nth record and mends checksums, lengths and
// links from there on, as spec/journal-v1.md says.
func rewriteRecord(path string, n int, from, to string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := bytes.Split(text, []byte("\n"))
	record, prev := 0, ""
	for i, l := range lines {
		m := headRE.FindSubmatch(l)
		if m == nil {
			continue
		}
		record++
		rest, link := string(m[4]), string(m[3])
		if record == n {
			if !strings.Contains(rest, from) {
				return fmt.Errorf("record %d has no %q: %s", n, from, l)
			}
			rest = strings.Replace(rest, from, to, 1)
		}
		if record > n {
			link = prev
		}
		length := len(l) - len(m[4]) + len(rest)
		for range 3 { // the length counts its own digits
			length = len(fmt.Sprintf(`{"crc":"00000000","len":%d,"prev":"%s",%s`, length, link, rest))
		}
		covered := fmt.Sprintf(`"len":%d,"prev":"%s",%s`, length, link, rest)
		prev = fmt.Sprintf("%08x", crc32.Checksum([]byte(covered), crc32.MakeTable(crc32.Castagnoli)))
		lines[i] = fmt.Appendf(nil, `{"crc":"%s",%s`, prev, covered)
	}
	return os.WriteFile(path, bytes.Join(lines, []byte("\n")), 0o600)
}
