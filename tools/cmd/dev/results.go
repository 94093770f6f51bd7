package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlgo/pawl/tools/internal/run"
)

// metrics holds what each benchmark reported, by its name and unit, once per run.
type metrics map[string]map[string][]float64

// parseBench reads what go test -bench printed.
func parseBench(r io.Reader) (m metrics, cpu string, err error) {
	m = metrics{}
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		text := sc.Text()
		if name, ok := strings.CutPrefix(text, "cpu: "); ok {
			cpu = name
		}
		fields := strings.Fields(text)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			if _, err := strconv.Atoi(name[i+1:]); err == nil {
				name = name[:i] // the number of processors
			}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, "", fmt.Errorf("%q: %w", text, err)
			}
			if m[name] == nil {
				m[name] = map[string][]float64{}
			}
			m[name][fields[i+1]] = append(m[name][fields[i+1]], v)
		}
	}
	return m, cpu, sc.Err()
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// short writes a number with three digits that matter.
func short(v float64) string {
	digits := 2 - int(math.Floor(math.Log10(max(math.Abs(v), 1e-3))))
	text := strconv.FormatFloat(v, 'f', min(max(digits, 0), 3), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// row is the line of a bar in the table.
func (b bar) row(m metrics) string {
	values := m[b.bench][b.metric]
	if len(values) == 0 {
		measured := "not built yet"
		if b.bench != "" {
			measured = "**not measured**"
		}
		return fmt.Sprintf("| %s | %s | %s | | |\n", b.what, b.says, measured)
	}
	v := median(values)
	verdict := "met"
	if b.atLeast && v < b.limit || !b.atLeast && v > b.limit {
		verdict = "**missed**"
	}
	return fmt.Sprintf("| %s | %s | %s (%s–%s) | %s | %s |\n", b.what, b.says, short(v), short(slices.Min(values)), short(slices.Max(values)), verdict, b.figures(m))
}

// figures names the benchmark's other medians, in the row of its first bar.
func (b bar) figures(m metrics) string {
	ruled := map[string]bool{"ns/op": true}
	for _, other := range bars() {
		if other.bench == b.bench {
			if len(ruled) == 1 && other != b {
				return ""
			}
			ruled[other.metric] = true
		}
	}
	var units, texts []string
	for unit := range m[b.bench] {
		if !ruled[unit] {
			units = append(units, unit)
		}
	}
	slices.Sort(units)
	for _, unit := range units {
		v := short(median(m[b.bench][unit]))
		if name, of, ok := cutLast(unit, "-"); ok && of != "ratio" {
			texts = append(texts, name+" "+v+" "+of)
		} else if ok {
			texts = append(texts, name+" ratio "+v)
		} else {
			texts = append(texts, v+" "+unit)
		}
	}
	return strings.Join(texts, ", ")
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// machineInfo is what a figure depends on. It never names the machine.
type machineInfo struct {
	goVersion, system, disk, load string
	cpus, count                   int
}

func machine(ctx context.Context, root string) machineInfo {
	m := machineInfo{system: runtime.GOOS + "/" + runtime.GOARCH, cpus: runtime.NumCPU(), disk: fileSystem(os.TempDir())}
	if text, err := run.Output(ctx, root, nil, "go", "env", "GOVERSION"); err == nil {
		m.goVersion = strings.TrimSpace(text)
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		number, _, _ := strings.Cut(strings.TrimSpace(string(release)), "-") // the rest may name a machine
		m.system += ", kernel " + number
	}
	return m
}

// fileSystem returns the type of the file system that holds a path.
func fileSystem(path string) string {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "unknown"
	}
	best, kind := "", "unknown"
	for line := range strings.SplitSeq(string(text), "\n") {
		before, after, ok := strings.Cut(line, " - ")
		fields, rest := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(rest) == 0 {
			continue
		}
		at := strings.TrimSuffix(fields[4], "/") + "/"
		if strings.HasPrefix(path+"/", at) && len(at) >= len(best) {
			best, kind = at, rest[0]
		}
	}
	return kind
}

// loadAverage is how many processes wanted a processor in the last minute.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// writeResults writes RESULTS.md from what the benchmarks printed into file. What stands
// in where.md is said about it below the table.
func writeResults(dir, file string, mi machineInfo) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	m, cpu, err := parseBench(f)
	if err != nil {
		return err
	}
	notes, err := os.ReadFile(filepath.Join(dir, "where.md"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "RESULTS.md"), []byte(results(m, cpu, mi, time.Now(), string(notes))), 0o644)
}

func results(m metrics, cpu string, mi machineInfo, now time.Time, notes string) string {
	var b strings.Builder
	b.WriteString("# Speed\n\n")
	fmt.Fprintf(&b, "Written by `make bench BENCHCOUNT=%d`; do not edit. ", mi.count)
	fmt.Fprintf(&b, "Each figure is the median of %d runs, the lowest and the highest of them in parentheses; a run takes the median of many turns, in which pawl and its floor alternate on the same disk with the same bytes. ", mi.count)
	b.WriteString("Ratios count; figures in µs, ms or MB/s belong to this machine and this hour. \"cpu ratio\" compares processor time, the garbage collector's included.\n\n")
	fmt.Fprintf(&b, "%s, %s, %d × %s, %s, load average (1 min) %s, %s\n\n", mi.goVersion, mi.system, mi.cpus, cpu, mi.disk, mi.load, now.Format(time.DateOnly))
	b.WriteString("| what | bar | measured | | figures |\n|---|---|---|---|---|\n")
	for _, row := range bars() {
		b.WriteString(row.row(m))
	}
	if notes != "" {
		b.WriteString("\n" + notes)
	}
	return b.String()
}
