package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/pawlgo/pawl"
)

// instructions is what the agent is.
const instructions = "You work for a shop that sells lamps. Help the customer. Look before you pay anything back."

// shop is the agent's world: orders, rules, and a bank.
type shop struct {
	mu      sync.Mutex
	refunds string // the bank's file: a line for each payment
}

// orders have numbers above 2^53, which float64 cannot hold.
var orders = map[int64]string{
	9007199254740993: `{"order":9007199254740993,"what":"2 desk lamps","cents":8400,"state":"delivered"}`,
	9007199254740995: `{"order":9007199254740995,"what":"1 floor lamp","cents":12900,"state":"on its way"}`,
}

var rules = map[string]string{
	"broken": "Broken on arrival: pay back the broken pieces, not more. No return needed.",
	"late":   "Late by more than a week: pay back the postage, 490 cents.",
}

func (s *shop) tools() []tool {
	return []tool{
		{
			name: "look_up_order", about: "What was ordered, for how much, and where it is.",
			parameters: `{"type":"object","properties":{"order":{"type":"integer"}},"required":["order"]}`,
			run:        s.lookUp,
		},
		{
			name: "read_rules", about: "The shop's rules about a subject: broken, late.",
			parameters: `{"type":"object","properties":{"subject":{"type":"string"}},"required":["subject"]}`,
			run:        s.readRules,
		},
		{
			name: "refund", about: "Pays money back to the customer. A person is asked first.",
			parameters: `{"type":"object","properties":{"order":{"type":"integer"},"cents":{"type":"integer"}},"required":["order","cents"]}`,
			dangerous:  true,
			run:        s.refund,
		},
	}
}

func (s *shop) lookUp(_ context.Context, args json.RawMessage) (string, error) {
	var in struct{ Order int64 }
	if err := strict(args, &in); err != nil {
		return "", err
	}
	o, ok := orders[in.Order]
	if !ok {
		return "", fmt.Errorf("there is no order %d", in.Order)
	}
	return o, nil
}

func (s *shop) readRules(_ context.Context, args json.RawMessage) (string, error) {
	var in struct{ Subject string }
	if err := strict(args, &in); err != nil {
		return "", err
	}
	r, ok := rules[in.Subject]
	if !ok {
		return "", fmt.Errorf("there are no rules about %q", in.Subject)
	}
	return r, nil
}

// refund has the bank pay. The bank does a thing once for each key, as payment providers do, so it
// does not matter whether an earlier process died before it knew the receipt.
func (s *shop) refund(ctx context.Context, args json.RawMessage) (string, error) {
	var in struct{ Order, Cents int64 }
	if err := strict(args, &in); err != nil {
		return "", err
	}
	if _, ok := orders[in.Order]; !ok || in.Cents <= 0 {
		return "", fmt.Errorf("order %d has nothing to pay back", in.Order)
	}
	return s.pay(pawl.IdempotencyKey(ctx), in.Order, in.Cents)
}

// pay is the bank.
func (s *shop) pay(key string, order, cents int64) (receipt string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	receipt = fmt.Sprintf(`{"paid":%d,"order":%d}`, cents, order)
	book, err := os.ReadFile(s.refunds)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for line := range strings.Lines(string(book)) {
		if paid, ok := strings.CutPrefix(line, key+" "); ok {
			return strings.TrimSpace(paid), nil
		}
	}
	f, err := os.OpenFile(s.refunds, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintln(f, key, receipt)
	return receipt, errors.Join(err, f.Close())
}

// strict reads arguments, and refuses what the tool does not know: a misspelled member would
// read as zero.
func strict(args json.RawMessage, v any) error {
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("the arguments do not fit: %w", err)
	}
	return nil
}
