package meter

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNoPrice is what [Response] returns, wrapped, for a model that its prices do not have.
var ErrNoPrice = errors.New("no price for the model")

// Price is what a model costs, in US dollars per million tokens. All but Input and Output may
// be left 0, where the vendor has no price of its own: CachedInput and CacheWrite are then
// as Input, LongCacheWrite as CacheWrite.
type Price struct {
	Input, CachedInput, CacheWrite, LongCacheWrite, Output float64
}

// Prices has the prices of models by name. There are none built in: they would be wrong
// after the next change, and nobody would notice. Take them from the vendor's price list and
// keep them with the configuration.
//
// A model has the price of its own name; or else that of its name without a date at the
// end, in one of the forms in which OpenAI, Anthropic and Google Cloud write them
// (-2024-08-06, -20250929, @20250929, -0613); or else that of the longest beginning of its
// name that is there with an asterisk behind it. "gpt-4o" is for gpt-4o-2024-08-06 too, but
// not for gpt-4o-mini, which costs something else; "gpt-4o*" is for both, "*" for every model.
//
// Reading Prices from several goroutines is safe, changing it meanwhile is not.
type Prices map[string]Price

// Cost returns what u costs in US dollars, with its Others, and whether all the models in it
// have a price; if not, usd is the cost of those that do. A price that has a negative or
// infinite number, or NaN, is none. Whether a model has a price can be asked ahead, with
// Usage{Model: name}.
//
// It is the price of tokens: discounts for batches, prices that rise with the length of the
// context or the urgency, and fees for tools are not in it. It is safe for concurrent use.
func (p Prices) Cost(u Usage) (usd float64, known bool) {
	price, known := p.of(u.Model)
	if known {
		usd = price.cost(u)
	}
	for _, o := range u.Others {
		if price, ok := p.of(o.Model); ok {
			usd += price.cost(o)
		} else {
			known = false
		}
	}
	return usd, known
}

// unknown returns the models in u that have no price.
func (p Prices) unknown(u Usage) (models []string) {
	for _, o := range append([]Usage{u}, u.Others...) {
		if _, ok := p.of(o.Model); !ok {
			models = append(models, o.Model)
		}
	}
	return models
}

// of returns the price of a model.
func (p Prices) of(model string) (Price, bool) {
	if price, ok := p[model]; ok {
		return price, price.valid()
	}
	if price, ok := p[withoutDate(model)]; ok {
		return price, price.valid()
	}
	longest := ""
	for name := range p {
		if start, ok := strings.CutSuffix(name, "*"); ok && strings.HasPrefix(model, start) && len(name) > len(longest) {
			longest = name
		}
	}
	price, ok := p[longest]
	return price, ok && longest != "" && price.valid()
}

func (p Price) valid() bool {
	for _, x := range []float64{p.Input, p.CachedInput, p.CacheWrite, p.LongCacheWrite, p.Output} {
		if !(x >= 0) || math.IsInf(x, 1) {
			return false
		}
	}
	return true
}

// cost returns what u costs, without its Others.
func (p Price) cost(u Usage) float64 {
	cached := cmp.Or(p.CachedInput, p.Input)
	written := cmp.Or(p.CacheWrite, p.Input)
	long := cmp.Or(p.LongCacheWrite, written)
	return (float64(u.Input)*p.Input +
		float64(u.CachedInput)*cached +
		float64(u.CacheWrite-u.LongCacheWrite)*written +
		float64(u.LongCacheWrite)*long +
		float64(u.Output)*p.Output) / 1e6
}

// dateForms are the layouts of dates at the end of model names.
var dateForms = []string{"-2006-01-02", "-20060102", "@20060102", "-0102"}

// withoutDate returns a model's name without the date at its end. What is no date, as the
// -8192 of a context's length, stays.
func withoutDate(model string) string {
	for _, form := range dateForms {
		if at := len(model) - len(form); at > 0 {
			if _, err := time.Parse(form, model[at:]); err == nil {
				return model[:at]
			}
		}
	}
	return model
}

// sameModel reports whether two names are of one model, one perhaps with its date.
func sameModel(a, b string) bool {
	return a == b || withoutDate(a) == b || a == withoutDate(b)
}

// quoteModels writes names for an error. They come from a response, so each is cut short.
func quoteModels(models []string) string {
	slices.Sort(models)
	models = slices.Compact(models)
	more := ""
	if len(models) > 3 {
		more = " and " + strconv.Itoa(len(models)-3) + " more"
		models = models[:3]
	}
	quoted := make([]string, len(models))
	for i, m := range models {
		quoted[i] = strconv.QuoteToASCII(m[:min(len(m), 80)])
	}
	return strings.Join(quoted, ", ") + more
}
