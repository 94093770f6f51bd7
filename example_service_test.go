package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/pawlgo/pawl"
)

// Order is a request's body.
type Order struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
}

// Receipt is the answer.
type Receipt struct {
	Charge   string `json:"charge"`
	Shipment string `json:"shipment"`
}

// A handler whose work is durable: a client that lost the answer, or met a server
// that died half-way, sends the same request again. What was done is not done again.
func Example_serviceHandler() {
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := pawl.Open(dir)
	if err != nil {
		log.Fatal(err)
	}

	mux := http.NewServeMux()
	mux.HandleFunc("PUT /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		var order Order
		if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		receipt, err := pawl.Do(r.Context(), store, r.PathValue("id"), func(ctx context.Context) (Receipt, error) {
			return fulfil(ctx, order)
		}, pawl.RunKind("order"), pawl.RunInput(order))
		switch {
		case err == nil:
			json.NewEncoder(w).Encode(receipt) //nolint:errcheck // the client is gone
		case errors.Is(err, pawl.ErrLocked): // another request or process is at it
			w.Header().Set("Retry-After", "1")
			http.Error(w, "in progress", http.StatusServiceUnavailable)
		case errors.Is(err, pawl.ErrInputChanged): // the ID was used for another order
			http.Error(w, err.Error(), http.StatusConflict)
		default: // what was done stays done; the client may ask again
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})

	put := func(id, body string) {
		rec := httptest.NewRecorder()
		mux.ServeHTTP(rec, httptest.NewRequest("PUT", "/orders/"+id, strings.NewReader(body)))
		fmt.Println(rec.Code, strings.TrimSpace(rec.Body.String()))
	}
	carrierDown = true
	put("o-7", `{"item":"lamp","count":2}`)
	put("o-7", `{"item":"lamp","count":2}`)
	put("o-7", `{"item":"lamp","count":2}`)
	put("o-7", `{"item":"lamp","count":3}`)
	// Output:
	// charging 2 x lamp
	// 500 pawl: run "o-7" step "ship" failed (try 1): the carrier does not answer
	// 200 {"charge":"ch_1","shipment":"sh_1"}
	// 200 {"charge":"ch_1","shipment":"sh_1"}
	// 409 pawl: open run "o-7": input changed since it was recorded: $.count; nothing ran; the run is as it was. Start it with the input it was created with, or use another run ID (docs/errors.md#errinputchanged)
}

func fulfil(ctx context.Context, o Order) (Receipt, error) {
	charge, err := pawl.Step(ctx, "charge", func(context.Context) (string, error) {
		fmt.Println("charging", o.Count, "x", o.Item)
		return "ch_1", nil
	})
	if err != nil {
		return Receipt{}, err
	}
	shipment, err := pawl.Step(ctx, "ship", func(context.Context) (string, error) {
		if carrierDown {
			carrierDown = false
			return "", errors.New("the carrier does not answer")
		}
		return "sh_1", nil
	})
	return Receipt{charge, shipment}, err
}

var carrierDown bool
