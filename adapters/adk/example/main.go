// Command example is an agent that can be killed at any moment:
//
//	go run . -kill 6      # dies in the middle, as by kill -9
//	go run .              # goes on at the call that was running
//	go run .              # is complete: the answer, without any call
//
// It runs offline, with a model that follows a script. The agent in agent.go knows nothing of pawl.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/adapters/adk"
	"github.com/pawlgo/pawl/pawltest/witness"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/plugin"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("example", flag.ContinueOnError)
	dir := flags.String("dir", "trip", "folder of the store and the witness")
	kill := flags.Int64("kill", 0, "die at this place: there are two in each call and one behind each event")
	pace := flags.Duration("pace", 0, "how long each call takes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	store, err := pawl.Open(filepath.Join(*dir, "store"))
	if err != nil {
		return err
	}
	defer store.Close()
	w, err := witness.Open(filepath.Join(*dir, "witness"))
	if err != nil {
		return err
	}
	defer w.Close()
	p := &places{dieAt: *kill}
	before := func(what string) error {
		p.reach()
		fmt.Fprintln(out, "calling", what)
		time.Sleep(*pace)
		err := w.Effect(what)
		p.reach()
		return err
	}

	answer, err := pawl.Do(context.Background(), store, "rome", func(ctx context.Context) (string, error) {
		fmt.Fprintf(out, "start %d: %d steps need not be done again\n", pawl.Resumed(ctx).Attempt, pawl.Resumed(ctx).Steps)
		clerk, err := newAgent(adk.Model(&script{before}), before) // was: newAgent(&script{before}, before)
		if err != nil {
			return "", err
		}
		r, err := runner.New(runner.Config{
			AppName:           "travel",
			Agent:             clerk,
			SessionService:    adk.NewSessionService(store), // was: session.InMemoryService()
			AutoCreateSession: true,
			PluginConfig:      runner.PluginConfig{Plugins: []*plugin.Plugin{adk.Plugin()}}, // new
		})
		if err != nil {
			return "", err
		}
		turn, said := 0, ""
		message := genai.NewContentFromText("Book a trip to Rome.", genai.RoleUser)
		for event, err := range r.Run(ctx, "ann", "holidays", message, agent.RunConfig{}) {
			if err != nil {
				return "", err
			}
			if err := acknowledge(w, event, &turn); err != nil {
				return "", err
			}
			p.reach()
			if event.IsFinalResponse() {
				said = event.Content.Parts[0].Text
			}
		}
		return said, nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out, answer)
	return nil
}

// acknowledge tells the witness what an event has: it is durable when it comes here.
func acknowledge(w *witness.Log, event *session.Event, turn *int) error {
	var errs []error
	if event.Content.Role == genai.RoleModel {
		errs = append(errs, w.Acked(fmt.Sprint("model ", *turn), nil))
		*turn++
	}
	for _, part := range event.Content.Parts {
		if r := part.FunctionResponse; r != nil {
			errs = append(errs, w.Acked(r.Name, []byte(strings.Join(strings.Fields(fmt.Sprint(r.Response)), " "))))
		}
	}
	return errors.Join(errs...)
}

// places counts where the program is, and kills it at one of them.
type places struct {
	n     atomic.Int64
	dieAt int64
}

func (p *places) reach() {
	if p.n.Add(1) == p.dieAt {
		if me, err := os.FindProcess(os.Getpid()); err == nil {
			me.Kill() //nolint:errcheck // nobody is there to hear of it
		}
		select {}
	}
}
