package journal

import (
	"maps"
	"math"
)

// Amount is how much a step used of something.
type Amount struct {
	Unit string
	All  float64 // over all its tries
	Last float64 // in its last one
}

// Use adds what was metered in a step; key is "" outside of all steps.
func (f *Fold) Use(key, unit string, amount float64) {
	f.Spent[unit] = min(f.Spent[unit]+amount, math.MaxFloat64)
	used := f.used[key]
	for i := range used {
		if used[i].Unit == unit {
			used[i].All = min(used[i].All+amount, math.MaxFloat64)
			used[i].Last = min(used[i].Last+amount, math.MaxFloat64)
			return
		}
	}
	if used == nil && f.Steps[key] == nil {
		f.link(key) // an epoch or alias of a key around it must find it
	}
	f.used[key] = append(used, Amount{unit, amount, amount})
}

// Begin begins a new try of a step.
func (f *Fold) Begin(key string) {
	for i := range f.used[key] {
		f.used[key][i].Last = 0
	}
}

// Used returns what a step itself used, without the steps inside it.
func (f *Fold) Used(key string) []Amount { return f.used[key] }

// usedByDone returns what the last tries of all finished steps, and of the steps inside these,
// used; nil if nothing.
func (f *Fold) usedByDone() map[string]float64 {
	var sum map[string]float64
	for key, used := range f.used {
		if s := f.Steps[key]; (s == nil || s.Status != StepDone) && !f.insideDone(key) {
			continue
		}
		for _, a := range used {
			if sum == nil {
				sum = map[string]float64{}
			}
			sum[a.Unit] = min(sum[a.Unit]+a.Last, math.MaxFloat64)
		}
	}
	return sum
}

// SpentSoFar returns a copy of Spent, nil if nothing was metered.
func (f *Fold) SpentSoFar() map[string]float64 {
	if len(f.Spent) == 0 {
		return nil
	}
	return maps.Clone(f.Spent)
}

// Ignore adds the record of an input that was let pass although it differs: that of a step,
// or with key "" that of the run.
func (f *Fold) Ignore(key, digest string) {
	if digest != "" {
		f.ignored[key] = digest
	}
}

// Ignored returns the digest of the input that was let pass last, "" if none was.
func (f *Fold) Ignored(key string) string { return f.ignored[key] }
