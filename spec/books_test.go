package spec_test

// The journals that most vectors begin with.

// run is a journal with nothing but its first record, which is durable.
func run() *book { return newBook().add(kind("run", identity(1, "r1", uid, 1))).acked() }

// opened is a run that a process opened: 2 records.
func opened() *book { return run().attempt(1) }

var openedMeans = meaning{"in_progress", 1, `{}`, "", ""}

// four has one acknowledged step: run, attempt, start a, step a. What comes next
// says dur 4.
func four() *book { return opened().done("a", `"one"`) }

var fourMeans = meaning{"in_progress", 1, `{"a":"done"}`, "", ""}

// six has two acknowledged steps: records 5 and 6 are start b and step b. What comes
// next says dur 6.
func six() *book { return four().done("b", `"two"`) }

// seven goes on with start c, which says that 6 was durable.
func seven() *book { return six().start("c") }

// working is a run in the middle of its second step, five records of which 4 are
// known to be durable: run, attempt, start a, step a, start b. It ends at offset x,
// at which the record of step b would begin.
func working(x int) *book {
	b := opened().start("a")
	after := b.fork().step("a", `""`).acked()
	last := len(after.b)
	last = len(after.start("b").b) - last // how long start b is
	b = b.stepTo("a", x-last).acked().start("b")
	mustBe(len(b.b), x)
	return b
}

var workingMeans = meaning{"in_progress", 1, `{"a":"done","b":"running"}`, "", ""}

// mustBe guards the layout that a vector is about.
func mustBe(got, want int) {
	if got != want {
		panic("a vector is not laid out as its comment says")
	}
}
