//go:build unix

package interrupt_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

func init() {
	children["file"] = func(c *child) error {
		ck, err := pawl.OpenFile[cursor]("checkpoint.json")
		return loop(c, ck, err)
	}
	children["state"] = func(c *child) error {
		ck, err := pawl.OpenState[cursor]("checkpoint.jsonl")
		return loop(c, ck, err)
	}
}

type cursor struct {
	Next int `json:"next"`
}

// loop is the program that the package documentation shows: it looks at the context between
// two saves. With a mode it waits for the signal in the third document, or outlives the grace
// there.
func loop(c *child, ck *pawl.Checkpoint[cursor], err error) error {
	if err != nil {
		return err
	}
	defer ck.Close()
	st := ck.State()
	for st.Next < 6 {
		if c.ctx.Err() != nil {
			break // what was saved is there on the next start
		}
		key := fmt.Sprint("doc-", st.Next)
		c.at(key)
		c.effect(key)
		if st.Next == 3 && c.mode == "waits" {
			<-c.ctx.Done()
		}
		if st.Next == 3 && c.mode == "hangs" {
			time.Sleep(time.Minute)
		}
		st.Next++
		if err := ck.Save(st); err != nil {
			return err
		}
		c.acked(key, key)
	}
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	return ck.Complete("done")
}

// TestC63Level1 interrupts a loop over one state: what was saved is not done again.
func TestC63Level1(t *testing.T) {
	upTo3 := []string{"effect doc-0", "acked doc-0", "effect doc-1", "acked doc-1", "effect doc-2", "acked doc-2", "effect doc-3"}
	last := []string{"effect doc-4", "acked doc-4", "effect doc-5", "acked doc-5"}
	for _, level := range []string{"file", "state"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, level)
			p := h.start("waits", time.Minute)
			p.at("doc-3")
			p.signal(syscall.SIGTERM)
			if says := p.ends(143, 5*time.Second); says != "child: stopped by SIGTERM\n" {
				t.Errorf("it said %q", says)
			}
			h.saw(append(upTo3[:7:7], "acked doc-3")...)
			h.finish()
			h.saw(last...)
		})
		t.Run(level+", the grace is over", func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, level)
			p := h.start("hangs", 200*time.Millisecond)
			p.at("doc-3")
			p.signal(syscall.SIGINT)
			if says := p.ends(130, 5*time.Second); says != "still running 200ms after SIGINT: exit 130; what has finished is recorded\n" {
				t.Errorf("it said %q", says)
			}
			h.saw(upTo3...)
			h.finish()
			h.saw(append([]string{"effect doc-3", "acked doc-3"}, last...)...)
		})
	}
}
