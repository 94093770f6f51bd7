package inbox_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlgo/pawl/internal/crashfs"
	"github.com/pawlgo/pawl/internal/inbox"
	"github.com/pawlgo/pawl/internal/killfs"
	"github.com/pawlgo/pawl/internal/memfs"
	"github.com/pawlgo/pawl/internal/vfs"
)

// noWatch is a file system that has no watch to give any more.
type noWatch struct{ vfs.FS }

func (noWatch) Touch(string) {}
func (noWatch) Watch(string, func(string), func()) (func(), error) {
	return nil, syscall.EMFILE
}

// pulled is one whose watches end when the test says so.
type pulled struct {
	vfs.FS
	mu   sync.Mutex
	lost func()
}

func (p *pulled) Touch(string) {}
func (p *pulled) Watch(_ string, _ func(string), lost func()) (func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = lost
	return func() {}, nil
}

func (p *pulled) pull() {
	p.mu.Lock()
	lost := p.lost
	p.mu.Unlock()
	if lost != nil {
		lost()
	}
}

// threads waits until no more goroutines are left than there were.
func threads(t *testing.T) (check func()) {
	t.Helper()
	before := runtime.NumGoroutine()
	return func() {
		t.Helper()
		for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				buf := make([]byte, 1<<16)
				t.Fatalf("goroutines are left:\n%s", buf[:runtime.Stack(buf, true)])
			}
		}
	}
}

// rung waits for a ring.
func rung(t *testing.T, c chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatal("no ring")
	}
}

// ringer returns a channel that is filled by rings, as an owner would have it.
func ringer() (c chan struct{}, ring func()) {
	c = make(chan struct{}, 1)
	return c, func() {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// TestBellTellsSoon measures how long it takes from the beginning of Post until the owner has the
// mail, among 20 other listeners.
func TestBellTellsSoon(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{"os": vfs.OS, "looking": noWatch{vfs.OS}} {
		t.Run(name, func(t *testing.T) {
			defer threads(t)()
			dir := store(t)
			b := inbox.NewBell(fsys, filepath.Dir(dir))
			var others atomic.Int64
			for i := range 20 {
				defer b.Listen(fmt.Sprint(i)+inbox.Ext, func() { others.Add(1) })()
			}
			c, ring := ringer()
			defer b.Listen(dir, ring)()
			for rung(t, c); others.Load() < 20; { // the beginning rings for everybody
				time.Sleep(time.Millisecond)
			}
			posts := 50
			if name == "looking" {
				posts = 10
			}
			var took []time.Duration
			for range posts {
				begin := time.Now()
				mustPost(t, fsys, dir, cancel())
				for {
					rung(t, c)
					entries, err := inbox.Read(fsys, dir, uid)
					if err != nil {
						t.Fatal(err)
					}
					if len(entries) > 0 {
						break
					}
				}
				took = append(took, time.Since(begin))
				if err := inbox.Remove(fsys, dir, cancel(), quiet); err != nil {
					t.Fatal(err)
				}
			}
			if others.Load() > 20 {
				t.Errorf("%d rings for the mail of another run", others.Load()-20)
			}
			slices.Sort(took)
			t.Logf("%d posts, from the beginning of each: median %v, max %v", posts, took[posts/2], took[posts-1])
			if took[posts/2] > 300*time.Millisecond {
				t.Errorf("median %v", took[posts/2])
			}
		})
	}
}

// TestBellFromTheBeginning: mail that comes while the watch is not there yet is told, and so is
// what an attempt to watch that fails, or a watch that ends, has missed.
func TestBellFromTheBeginning(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{"os": vfs.OS, "looking": noWatch{vfs.OS}, "ended": &pulled{FS: vfs.OS}} {
		t.Run(name, func(t *testing.T) {
			defer threads(t)()
			dir := store(t)
			c, ring := ringer()
			defer inbox.NewBell(fsys, filepath.Dir(dir)).Listen(dir, ring)()
			if name == "ended" {
				rung(t, c) // of the beginning
			}
			mustPost(t, fsys, dir, cancel())
			if p, ok := fsys.(*pulled); ok {
				p.pull()
			}
			rung(t, c)
		})
	}
}

// TestLookingSeesEveryChange: two changes may have one time, and of the second one an owner must
// hear too.
func TestLookingSeesEveryChange(t *testing.T) {
	dir := store(t)
	c, ring := ringer()
	defer inbox.NewBell(noWatch{vfs.OS}, filepath.Dir(dir)).Listen(dir, ring)()
	mustPost(t, vfs.OS, dir, cancel())
	begin := time.Now()
	for range 4 { // without another change
		rung(t, c)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestLookingWhereTimesStand: not everywhere does a directory say that it changed.
func TestLookingWhereTimesStand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := noWatch{memfs.New()} // whose files have no times
		c, ring := ringer()
		defer inbox.NewBell(fsys, ".").Listen("r.inbox", ring)()
		mustPost(t, fsys, "r.inbox", cancel())
		time.Sleep(10 * time.Second)
		<-c
		begin := time.Now()
		mustPost(t, fsys, "r.inbox", answer("k", "1"))
		<-c
		if took := time.Since(begin); took > 1100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// TestBellInMemory: no goroutine, no ticker, no time passes.
func TestBellInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := memfs.New()
		check := threads(t)
		b := inbox.NewBell(fsys, ".")
		rings := 0
		stop := b.Listen("r.inbox", func() { rings++ })
		check()
		begin := time.Now()
		mustPost(t, fsys, "r.inbox", cancel())
		mustPost(t, fsys, "other.inbox", cancel())
		if rings != 1 || time.Since(begin) != 0 {
			t.Errorf("%d rings, after %v", rings, time.Since(begin))
		}
		time.Sleep(time.Hour)
		stop()
		mustPost(t, fsys, "r.inbox", answer("k", "1"))
		if rings != 1 {
			t.Errorf("%d rings", rings)
		}
	})
}

// TestBellInABubble: on real files in a bubble of fake time nothing waits for the kernel, which
// would stop that time, and mail of this process is told.
func TestBellInABubble(t *testing.T) {
	dir := store(t)
	synctest.Test(t, func(t *testing.T) {
		b := inbox.NewBell(vfs.OS, filepath.Dir(dir))
		c, ring := ringer()
		stop := b.Listen(dir, ring)
		time.Sleep(time.Hour)
		mustPost(t, vfs.OS, dir, cancel())
		select {
		case <-c:
		case <-time.After(time.Minute):
			t.Error("no ring")
		}
		stop()
	})
}

// TestBellThatNeverRings: test file systems count every operation, and see none from a bell.
func TestBellThatNeverRings(t *testing.T) {
	defer threads(t)()
	base := newRuns(t)
	for name, fsys := range map[string]vfs.FS{
		"crashfs": base,
		"killfs":  killfs.New(base, func(killfs.Op) (killfs.Mode, bool) { return 0, false }),
	} {
		ops := base.Ops()
		stop := inbox.NewBell(fsys, "/runs").Listen(crashDir, func() { t.Error("rung") })
		time.Sleep(150 * time.Millisecond)
		stop()
		if base.Ops() != ops {
			t.Errorf("%s: %d operations", name, base.Ops()-ops)
		}
	}
	base.Fault = crashfs.Nth(crashfs.Chmod, 1, -1, crashfs.Fault{Err: syscall.EIO})
	if _, err := inbox.Post(base, crashDir, cancel(), quiet); err != nil || base.Count(crashfs.Chmod) > 0 {
		t.Errorf("%v", err)
	}
}

// TestThousandListeners: what it costs to look for many runs, and that each hears of its own mail.
func TestThousandListeners(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{"os": vfs.OS, "looking": noWatch{vfs.OS}} {
		t.Run(name, func(t *testing.T) {
			defer threads(t)()
			runs := t.TempDir()
			b := inbox.NewBell(fsys, runs)
			var rings [1000]atomic.Int64
			var stops []func()
			begin := time.Now()
			path := func(i int) string { return filepath.Join(runs, fmt.Sprintf("r%d.inbox", i)) }
			for i := range rings {
				stops = append(stops, b.Listen(path(i), func() { rings[i].Add(1) }))
			}
			listened := time.Since(begin)
			for i := range rings { // the beginning rings for everybody
				for rings[i].Load() == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			for i := range rings {
				rings[i].Store(0)
			}
			for i := range 20 {
				mustPost(t, fsys, path(i*50), cancel())
			}
			for i := range 20 {
				for end := time.Now().Add(10 * time.Second); rings[i*50].Load() == 0; time.Sleep(time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("run %d heard nothing", i*50)
					}
				}
			}
			others := 0
			for i := range rings {
				if i%50 != 0 && rings[i].Load() > 0 {
					others++
				}
			}
			if others > 0 {
				t.Errorf("%d were rung for nothing", others)
			}
			begin = time.Now()
			for _, stop := range stops {
				stop()
			}
			t.Logf("to listen %v each, to stop %v each", listened/1000, time.Since(begin)/1000)
		})
	}
}

// TestStopEndsRinging: once stop has returned nothing rings, whoever posts, listens and stops at the
// same time.
func TestStopEndsRinging(t *testing.T) {
	for name, fsys := range map[string]vfs.FS{"os": vfs.OS, "looking": noWatch{vfs.OS}, "memory": memfs.New()} {
		t.Run(name, func(t *testing.T) {
			defer threads(t)()
			dir := store(t)
			if name == "memory" {
				dir = "r.inbox"
			}
			b := inbox.NewBell(fsys, filepath.Dir(dir))
			end := make(chan struct{})
			var wg sync.WaitGroup
			wg.Go(func() {
				for {
					select {
					case <-end:
						return
					default:
						_, err := inbox.Post(fsys, dir, cancel(), quiet)
						if err == nil {
							err = inbox.Remove(fsys, dir, cancel(), quiet)
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
				}
			})
			var rings atomic.Int64
			var stops sync.WaitGroup
			for g := range 4 {
				stops.Go(func() {
					for n := range 30 {
						var stopped atomic.Bool
						stop := b.Listen(dir, func() {
							rings.Add(1)
							if stopped.Load() {
								t.Error("rung after stop")
							}
						})
						// Around the beginning of the watch, and before and after it.
						time.Sleep(time.Duration((n*7+g)%40) * time.Millisecond)
						stop()
						stopped.Store(true)
					}
				})
			}
			stops.Wait()
			close(end)
			wg.Wait()
			t.Logf("%d rings", rings.Load())
			if rings.Load() == 0 {
				t.Error("never rung")
			}
		})
	}
}

// TestRingMayListen: a ring may begin to listen for another run, and stop that.
func TestRingMayListen(t *testing.T) {
	fsys := memfs.New()
	b := inbox.NewBell(fsys, ".")
	n := 0
	stop := b.Listen("r.inbox", func() {
		n++
		b.Listen("s.inbox", func() {})()
	})
	mustPost(t, fsys, "r.inbox", cancel())
	stop()
	stop() // twice does no harm
	if n != 1 {
		t.Errorf("%d rings", n)
	}
	if _, err := fsys.Lstat("s.inbox"); err == nil || errors.Is(err, syscall.EIO) {
		t.Errorf("%v", err)
	}
}
