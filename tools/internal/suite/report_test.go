package suite

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// stream is what go test -json prints, shortened.
const stream = `go: downloading something
{"Action":"build-output","ImportPath":"m/broken","Output":"b.go:2:12: undefined: y\n"}
{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestGood"}
{"Action":"output","Package":"m/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"m/a","Test":"TestGood","Output":"    a_test.go:9: chatter\n"}
{"Action":"output","Package":"m/a","Test":"TestGood","Output":"progress: half done\n"}
{"Action":"pass","Package":"m/a","Test":"TestGood","Elapsed":1.5}
{"Action":"output","Package":"m/a","Test":"TestBad","Output":"    a_test.go:12: it broke\n"}
{"Action":"output","Package":"m/a","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"m/a","Test":"TestBad","Elapsed":0}
{"Action":"output","Package":"m/a","Test":"TestTrace","Output":"    a_test.go:20: strace is missing\n"}
{"Action":"output","Package":"m/a","Test":"TestTrace","Output":"--- SKIP: TestTrace (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"TestTrace","Elapsed":0}
{"Action":"output","Package":"m/a","Output":"FAIL\tm/a\t0.012s\n"}
{"Action":"fail","Package":"m/a","Elapsed":0.012}
{"Action":"output","Package":"m/dead","Test":"TestDies","Output":"panic: out of luck\n"}
{"Action":"output","Package":"m/dead","Output":"FAIL\tm/dead\t0.010s\n"}
{"Action":"fail","Package":"m/dead","Elapsed":0.01}
{"Action":"output","Package":"m/none","Output":"?   \tm/none\t[no test files]\n"}
{"Action":"skip","Package":"m/none","Elapsed":0}
{"Action":"output","Package":"m/ok","Output":"PASS\n"}
{"Action":"output","Package":"m/ok","Output":"ok  \tm/ok\t0.002s\n"}
{"Action":"pass","Package":"m/ok","Elapsed":0.002}
`

func TestRead(t *testing.T) {
	var out strings.Builder
	rep, err := Read(strings.NewReader(stream), &out, false)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Passed != 1 || rep.Failed != 2 || rep.Skipped != 1 {
		t.Errorf("%d passed, %d failed, %d skipped; want 1, 2 (a test and a package that died), 1", rep.Passed, rep.Failed, rep.Skipped)
	}
	if want := []string{"m/a.TestBad", "m/dead"}; !slices.Equal(rep.Failures, want) {
		t.Errorf("failures %q, want %q", rep.Failures, want)
	}
	if got := rep.Skips["strace is missing"]; !slices.Equal(got, []string{"m/a.TestTrace"}) {
		t.Errorf("skips %q", rep.Skips)
	}
	if want := []Timing{{"m/a.TestGood", 1500 * time.Millisecond}}; !slices.Equal(rep.Slow, want) {
		t.Errorf("slow tests %v, want %v", rep.Slow, want)
	}
	const want = `go: downloading something
b.go:2:12: undefined: y
progress: half done
    a_test.go:12: it broke
--- FAIL: TestBad (0.00s)
FAIL	m/a	0.012s
FAIL	m/dead	0.010s
panic: out of luck
ok  	m/ok	0.002s
`
	if out.String() != want {
		t.Errorf("shown:\n%s\nwant:\n%s", &out, want)
	}
}

func TestReadVerbose(t *testing.T) {
	var out strings.Builder
	if _, err := Read(strings.NewReader(stream), &out, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"chatter", "=== RUN", "PASS\n", "[no test files]", "panic: out of luck"} {
		if n := strings.Count(out.String(), want); n != 1 {
			t.Errorf("%q stands there %d times, want once", want, n)
		}
	}
}

func TestReason(t *testing.T) {
	for _, c := range []struct {
		want  string
		lines []string
	}{
		{"no reason given", nil},
		{"no reason given", []string{"--- SKIP: TestX (0.00s)\n"}},
		{"python3 is missing: no reader", []string{"    x_test.go:7: python3 is missing: no reader\n", "--- SKIP: TestX (0.00s)\n"}},
		{"last", []string{"    x_test.go:7: first\n", "    x_test.go:8: last\n"}},
		{"no position", []string{"no position\n"}},
	} {
		if got := reason(c.lines); got != c.want {
			t.Errorf("reason(%q) = %q, want %q", c.lines, got, c.want)
		}
	}
}

func TestSum(t *testing.T) {
	good := Result{Suite: "a", Run: 3 * time.Second, Budget: 5 * time.Second, Report: Report{Passed: 7, Skipped: 1, Skips: map[string][]string{"no luck": {"p.T1"}}}}
	over := Result{Suite: "b", Run: 9 * time.Second, Budget: 5 * time.Second, Report: Report{Passed: 2}, Err: errOver}

	var out strings.Builder
	if err := Sum(&out, []Result{good}, 10*time.Second); err != nil {
		t.Errorf("a good run: %v", err)
	}
	if !strings.HasSuffix(out.String(), "\ntests: 7 passed, 0 failed, 1 skipped\n") {
		t.Errorf("the closing line is missing:\n%s", &out)
	}
	if !strings.Contains(out.String(), "no luck: p.T1\n") {
		t.Errorf("the skipped test is not named:\n%s", &out)
	}
	if err := Sum(&out, []Result{good, over}, time.Minute); err == nil || !strings.Contains(err.Error(), "1 of 2") {
		t.Errorf("a suite over its budget: %v", err)
	}
	if err := Sum(&out, []Result{good}, 2*time.Second); err != errOver {
		t.Errorf("all suites over the total: %v", err)
	}
}
