package pawl_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/pawlgo/pawl"
)

// A batch over documents: each is analysed once, whatever kills the process.
func ExampleDo() {
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := pawl.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	docs := []string{"alpha.txt", "beta.txt", "gamma.txt"}
	analyze := func(ctx context.Context, doc string) (string, error) {
		fmt.Println("analyzing", doc)
		if doc == "gamma.txt" && pawl.Resumed(ctx).Attempt == 1 {
			return "", fmt.Errorf("the model is overloaded")
		}
		return strings.ToUpper(strings.TrimSuffix(doc, ".txt")), nil
	}
	research := func(ctx context.Context) (string, error) {
		findings, err := pawl.Map(ctx, "analyze", docs, func(d string) string { return d }, analyze, pawl.Parallel(1))
		if err != nil {
			return "", err
		}
		return pawl.Step(ctx, "report", func(context.Context) (string, error) {
			return strings.Join(findings, ", "), nil
		})
	}

	for range 3 { // as a supervisor would start the program again
		report, err := pawl.Do(context.Background(), store, "run-abc123", research)
		if err != nil {
			fmt.Println("stopped:", err)
			continue
		}
		fmt.Println("report:", report)
	}
	// Output:
	// analyzing alpha.txt
	// analyzing beta.txt
	// analyzing gamma.txt
	// stopped: pawl: run "run-abc123" step "analyze/gamma.txt" failed (try 1): the model is overloaded
	// analyzing gamma.txt
	// report: ALPHA, BETA, GAMMA
	// report: ALPHA, BETA, GAMMA
}

// Steps of a loop get a scope of their own.
func ExampleScope() {
	dir, err := os.MkdirTemp("", "pawl")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := pawl.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	sum, err := pawl.Do(context.Background(), store, "sum", func(ctx context.Context) (int, error) {
		sum := 0
		for round := range 3 {
			rc := pawl.Scope(ctx, fmt.Sprint("round/", round))
			n, err := pawl.Step(rc, "square", func(context.Context) (int, error) { return round * round, nil })
			if err != nil {
				return 0, err
			}
			sum += n
		}
		return sum, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	steps, err := store.Steps(context.Background(), "sum")
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range steps {
		fmt.Println(s.Key, s.Status)
	}
	fmt.Println("sum", sum)
	// Output:
	// round/0/square done
	// round/1/square done
	// round/2/square done
	// sum 5
}
