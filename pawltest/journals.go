package pawltest

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/internal/hook"
	"github.com/pawlgo/pawl/internal/memfs"
)

// record is what is compared of a journal's record.
type record struct {
	Kind    string `json:"kind"`
	Key     string `json:"key"`
	Unasked int    `json:"unasked"`
}

// journals reads the journals of all runs on a disk, as somebody who only looks.
func journals(disk *memfs.FS) map[string][]record {
	byRun := map[string][]record{}
	ctx := context.Background()
	store, err := pawl.Open("memory", hook.StoreFS(disk).(pawl.StoreOption), pawl.MustExist())
	if err != nil {
		return byRun // it died before there was a store
	}
	for id, err := range store.IDs(ctx, "") {
		if err != nil {
			return byRun
		}
		for event, err := range store.History(ctx, id) {
			if err != nil {
				break
			}
			var r record
			if json.Unmarshal(event.JSON, &r) == nil {
				byRun[id] = append(byRun[id], r)
			}
		}
	}
	return byRun
}

// last says what was written last.
func (o outcome) last() string {
	for id, records := range o.journals {
		r := records[len(records)-1]
		if len(o.journals) > 1 {
			return fmt.Sprintf("%d runs", len(o.journals))
		}
		return fmt.Sprintf("run %q: %s %q", id, r.Kind, r.Key)
	}
	return "no run yet"
}
