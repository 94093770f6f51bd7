package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawlgo/pawl"
)

// child is a program that starts with this benchmark's file.
func child(name, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PAWL_BENCH_CHILD="+name, "PAWL_BENCH_DIR="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// BenchmarkKill is the time from kill -9 of a process that is inside the 101st step of a
// run until that step runs in the next one, against starting a Go program, the same
// binary, that opens one file.
func BenchmarkKill(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600); err != nil {
		b.Fatal(err)
	}
	running, err := startStuck(dir)
	if err != nil {
		b.Fatal(err)
	}
	t := take(b, 20, func(int) error {
		old := running
		if err := old.cmd.Process.Kill(); err != nil {
			return err
		}
		old.cmd.Wait() //nolint:errcheck // it was killed
		running, err = startStuck(dir)
		return err
	}, func(int) error {
		p, err := start("open", dir)
		if err != nil {
			return err
		}
		return p.cmd.Wait()
	})
	running.cmd.Process.Kill() //nolint:errcheck // it is ours
	running.cmd.Wait()         //nolint:errcheck // it was killed
	b.ReportMetric(t.median(0)/1000, "pawl-ms")
	b.ReportMetric(t.median(1)/1000, "start-ms")
	b.ReportMetric(t.median(0)/t.median(1), "ratio")
}

// process is a child that said that it is where it should be.
type process struct{ cmd *exec.Cmd }

func startStuck(dir string) (*process, error) { return start("stuck", dir) }

func start(name, dir string) (*process, error) {
	cmd := child(name, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &process{cmd}, nil
}

func init() {
	children["open"] = func(dir string) error {
		f, err := os.Open(filepath.Join(dir, "file"))
		if err != nil {
			return err
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		fmt.Println(len(text))
		return err
	}
	children["stuck"] = func(dir string) error {
		store, err := pawl.Open(filepath.Join(dir, "store"))
		if err != nil {
			return err
		}
		_, err = pawl.Do(context.Background(), store, "bench", func(ctx context.Context) (int, error) {
			for i := range 100 {
				if _, err := pawl.Step(ctx, fmt.Sprint(i), func(context.Context) (finding, error) { return newFinding(i, 2000), nil }); err != nil {
					return 0, err
				}
			}
			return pawl.Step(ctx, "stuck", func(context.Context) (int, error) {
				fmt.Println("running")
				time.Sleep(time.Hour) // it is killed here
				return 0, nil
			})
		})
		return err
	}
}
