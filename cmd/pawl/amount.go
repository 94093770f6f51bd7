package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pawlgo/pawl"
)

// unitUSD is the unit that package meter counts dollars in.
const unitUSD = "usd"

// amounts are numbers by unit, null if there are none.
type amounts map[string]float64

// amountsOf returns amounts that have a JSON: a sum may have grown beyond all numbers.
func amountsOf(m map[string]float64) amounts {
	if m == nil {
		return nil
	}
	out := amounts{}
	for unit, x := range m {
		out[unit] = min(x, math.MaxFloat64)
	}
	return out
}

// unitsOf returns the units of some amounts: dollars first, and then by name.
func unitsOf(all ...map[string]float64) []string {
	seen := map[string]bool{}
	for _, m := range all {
		for unit := range m {
			seen[unit] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), func(x, y string) int {
		if (x == unitUSD) != (y == unitUSD) {
			return map[bool]int{true: -1, false: 1}[x == unitUSD]
		}
		return cmp.Compare(x, y)
	})
}

// amount says how much of a unit: rounded for people, whole for programs.
func (o *output) amount(unit string, x float64) string {
	if o.tty && unit == unitUSD {
		return dollars(x)
	}
	return o.number(unit, x) + " " + cell(unit)
}

// number says that where the unit is known; of dollars it says the unit all the same.
func (o *output) number(unit string, x float64) string {
	switch {
	case !o.tty:
		return exactly(x)
	case unit == unitUSD:
		return dollars(x)
	}
	return grouped(x)
}

// amounts says how much of each unit, "-" if there is none.
func (o *output) amounts(m map[string]float64) string {
	var all []string
	for _, unit := range unitsOf(m) {
		all = append(all, o.amount(unit, m[unit]))
	}
	return cmp.Or(strings.Join(all, ", "), "-")
}

// spent is the cell of a table for amounts: people look for the money first.
func (o *output) spent(m map[string]float64) string {
	if usd, ok := m[unitUSD]; ok && o.tty {
		return o.amount(unitUSD, usd)
	}
	return o.amounts(m)
}

// exactly returns an amount as people write numbers, without what sums of decimal
// fractions have behind the ninth digit.
func exactly(x float64) string {
	if x >= 1e15 {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatFloat(math.Round(x*1e9)/1e9, 'f', -1, 64)
}

// dollars returns an amount of money: cents, and of less than a dollar what there is of it.
func dollars(x float64) string {
	switch {
	case x == 0 || x >= 0.995 && x < 1e15:
		return fmt.Sprintf("$%.2f", x)
	case x >= 1e15:
		return "$" + exactly(x)
	}
	digits := 4
	if x < 0.001 {
		digits = 9
	}
	whole, part, _ := strings.Cut(strconv.FormatFloat(x, 'f', digits, 64), ".")
	for len(part) > 2 && part[len(part)-1] == '0' {
		part = part[:len(part)-1]
	}
	return "$" + whole + "." + part
}

// grouped returns a number with commas between thousands.
func grouped(x float64) string {
	switch {
	case x >= 1e15:
		return exactly(x)
	case x < 100:
		return exactly(math.Round(x*1e4) / 1e4)
	}
	digits := strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// skipped says to people what a start does not do and pay again.
func skipped(r pawl.Resume) string {
	what := []string{count(r.Steps, "step")}
	if r.Units != nil {
		what = append(what, (&output{tty: true}).amounts(r.Units))
	}
	return "skipped " + strings.Join(append(what, took(r.Saved)), ", ")
}
