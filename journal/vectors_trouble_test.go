package journal_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pawlgo/pawl/journal"
	"github.com/pawlgo/pawl/spec"
)

// toldTrouble is what a fold knows beyond status and payloads, in the words of the
// vectors.
type toldTrouble struct {
	Final          []string
	Troubles       map[string]spec.Trouble
	Used           map[string]float64
	By, Since      map[string]map[string]float64
	Deadline, Wake string
	Within         int64
	Budget         map[string]float64
	Cancel         map[string]string
	Died           []string
}

func troubleOf(f *journal.Fold) toldTrouble {
	t := toldTrouble{
		Final: []string{}, Troubles: map[string]spec.Trouble{}, Used: maps.Clone(f.Spent), By: map[string]map[string]float64{}, Since: map[string]map[string]float64{},
		Deadline: clock(f.Deadline), Wake: clock(f.WakeAt), Within: f.Within.Microseconds(), Budget: f.Budget, Cancel: map[string]string{}, Died: f.Died(),
	}
	slices.Sort(t.Died)
	if t.Deadline == "" {
		t.Deadline = spec.Nothing
	}
	if t.Wake == "" {
		t.Wake = spec.Nothing
	}
	if t.Budget == nil {
		t.Budget = map[string]float64{}
	}
	if f.Status == journal.Cancelled {
		t.Cancel = map[string]string{"by": f.Cancel.By, "reason": f.Cancel.Reason, "mail": f.Mail}
	} else if f.Cancel != (journal.Decision{}) {
		t.Cancel["in force"] = string(f.Status)
	}
	for _, key := range slices.Sorted(maps.Keys(f.Steps)) {
		if s := f.Steps[key]; s.Status == journal.StepFailed && s.Final {
			t.Final = append(t.Final, key)
		}
		if x := f.Trouble[key]; x != nil {
			told := spec.Trouble{
				Fails: x.Fails, Since: clock(x.Since), Next: clock(x.Next), Until: clock(x.Until), Wait: x.Wait.Microseconds(),
				Poison: x.Poison, Deaths: x.Deaths, Others: x.Others,
			}
			if told != (spec.Trouble{}) {
				t.Troubles[key] = told
			}
		}
		for _, a := range f.Used(key) {
			add(t.By, key, a.Unit, a.All)
			if a.Last != 0 {
				add(t.Since, key, a.Unit, a.Last)
			}
		}
		if t.By[key] != nil && t.Since[key] == nil {
			t.Since[key] = map[string]float64{}
		}
	}
	return t
}

func add(by map[string]map[string]float64, key, unit string, amount float64) {
	if by[key] == nil {
		by[key] = map[string]float64{}
	}
	by[key][unit] += amount
}

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z")
}

// compareTroubles returns what differs from the vector. Died says the same of a process
// that died while no step was under way and of none that died.
func compareTroubles(f *journal.Fold, v spec.Vector) (wrong []string) {
	differ := func(what string, got, want any) {
		wrong = append(wrong, fmt.Sprintf("%s: %v, want %v", what, got, want))
	}
	t := troubleOf(f)
	if v.Final != nil && !slices.Equal(t.Final, v.Final) {
		differ("final", t.Final, v.Final)
	}
	if v.Troubles != nil && !maps.Equal(t.Troubles, v.Troubles) {
		differ("troubles", t.Troubles, v.Troubles)
	}
	if v.Used != nil && !maps.Equal(t.Used, v.Used) {
		differ("used", t.Used, v.Used)
	}
	if v.UsedBy != nil && !maps.EqualFunc(t.By, v.UsedBy, maps.Equal) {
		differ("used by", t.By, v.UsedBy)
	}
	if v.UsedSince != nil && !maps.EqualFunc(t.Since, v.UsedSince, maps.Equal) {
		differ("used since", t.Since, v.UsedSince)
	}
	if v.Deadline != "" && t.Deadline != v.Deadline {
		differ("deadline", t.Deadline, v.Deadline)
	}
	if v.Wake != "" && t.Wake != v.Wake {
		differ("wake", t.Wake, v.Wake)
	}
	if v.Within >= 0 && t.Within != v.Within {
		differ("within", t.Within, v.Within)
	}
	if v.Budget != nil && !maps.Equal(t.Budget, v.Budget) {
		differ("budget", t.Budget, v.Budget)
	}
	if v.Cancel != nil && !maps.Equal(t.Cancel, v.Cancel) {
		differ("cancel", t.Cancel, v.Cancel)
	}
	if v.Death.Presence != spec.Unstated && !slices.Equal(t.Died, v.Death.Steps) {
		differ("under way at a death", t.Died, v.Death.Steps)
	}
	return wrong
}
