package spec_test

import (
	"fmt"
	"strings"
)

// Times beside at, in the order in which they come.
const (
	began = "2026-12-01T09:20:00.000000Z"
	later = "2026-12-01T10:00:00.500000Z"
	last  = "2026-12-24T00:00:00.000000Z"
)

// startOf and failOf append a start and a fail with more members.
func (b *book) startOf(key string, members ...string) *book {
	return b.add(keyed("start", key, append([]string{`"try":1`}, members...)...))
}

func (b *book) failOf(key string, members ...string) *book {
	return b.add(keyed("fail", key, append([]string{`"try":1,"us":1200,"error":"no"`}, members...)...))
}

func (b *book) crash(key string, n, others int) *book {
	return b.add(keyed("crash", key, fmt.Sprintf(`"n":%d,"others":%d`, n, others)))
}

func (b *book) retry(key string) *book {
	return b.add(keyed("retry", key, `"by":"ann","reason":"the tool is back"`))
}

func (b *book) meter(key, unit, amount string) *book {
	members := `"unit":"` + unit + `","amount":` + amount
	if key == "" {
		return b.add(kind("meter", members))
	}
	return b.add(keyed("meter", key, members))
}

func (b *book) waiting(until string) *book {
	if until == "" {
		return b.add(kind("waiting"))
	}
	return b.add(kind("waiting", `"until":"`+until+`"`))
}

func (b *book) cancelled() *book {
	return b.add(kind("cancelled", `"by":"ann","reason":"ordered twice","mail":"m1"`))
}

func (b *book) reopen() *book { return b.add(kind("reopen", `"by":"bob","reason":"it was not"`)) }

func (b *book) failedRun() *book   { return b.add(kind("failed", `"error":"no"`)) }
func (b *book) interrupted() *book { return b.add(kind("interrupted")) }
func (b *book) clear() *book       { return b.add(kind("clear")) }

// under is an attempt with terms.
func (b *book) under(n int, terms string) *book {
	return b.add(kind("attempt", fmt.Sprintf(`"n":%d,"host":"example","pid":4711`, n), terms))
}

// series are members of a record that says: one try has failed, and the next one is
// due.
const (
	soFar  = `"fails":1,"since":"` + began + `"`
	dueAt  = `"next":"` + later + `","wait":1800000000`
	series = soFar + `,` + dueAt
)

// failing is a run whose step a failed and is to be tried again: 4 records.
func failing() *book { return opened().start("a").failOf("a", series) }

// added is how most groups here state a vector of a run with one attempt.
func added(s *set, prefix, section string) func(name, comment string, b *book, records int, status, steps string, more ...string) {
	return func(name, comment string, b *book, records int, status, steps string, more ...string) {
		s.add(prefix+"-"+name, section, comment, b.b, clean(records, len(b.b), meaning{status, 1, steps, "?", ""}).also(more...))
	}
}

// seriesVectors has tries that go on.
func seriesVectors(s *set) {
	all := added(s, "series", "5, 6")
	add := func(name, comment string, b *book, records int, steps, troubles string) {
		all(name, comment, b, records, "in_progress", steps, "troubles", troubles)
	}
	const a = `{` + series + `}`
	add("none", "A failure that says nothing of a series.", opened().start("a").fail("a"), 4, `{"a":"failed"}`, `{}`)
	add("fail", "A failure after which the step is tried again.", failing(), 4, `{"a":"failed"}`, `{"a":`+a+`}`)
	add("without-wait", "wait may be missing.", opened().start("a").failOf("a", soFar, `"next":"`+later+`"`), 4, `{"a":"failed"}`, `{"a":{`+soFar+`,"next":"`+later+`"}}`)
	add("goes-on", "The next try says that it is one of a series; nothing is due any more.", failing().startOf("a", soFar), 5, `{"a":"running"}`, `{"a":{`+soFar+`}}`)
	add("anew", "A start says all of it: without fails nothing is left of the series.", failing().start("a"), 5, `{"a":"running"}`, `{}`)
	add("fail-again", "So does a failure: what an older one said does not count.",
		failing().startOf("a", soFar).failOf("a", `"fails":2,"since":"`+began+`","next":"`+last+`"`), 6, `{"a":"failed"}`,
		`{"a":{"fails":2,"since":"`+began+`","next":"`+last+`"}}`)
	add("over", "A failure without a next try keeps what it says.", failing().startOf("a", soFar).failOf("a", `"fails":2,"since":"`+began+`"`), 6, `{"a":"failed"}`,
		`{"a":{"fails":2,"since":"`+began+`"}}`)
	add("forgotten", "A failure that says nothing of the series ends it.", failing().startOf("a", soFar).fail("a"), 6, `{"a":"failed"}`, `{}`)
	add("done", "A value ends a series.", failing().startOf("a", soFar).step("a", "1"), 6, `{"a":"done"}`, `{}`)
	add("found-done", "Also one that somebody found.", failing().add(keyed("step", "a", `"try":1,"us":0,"by":"ann","reason":"seen"`, `"value":1`)), 5, `{"a":"done"}`, `{}`)
	add("retry", "A retry ends a series; the step stays failed.", failing().retry("a"), 5, `{"a":"failed"}`, `{}`)
	add("done-stays-done", "A start or a failure of a step that is done changes nothing of it, troubles included.",
		four().startOf("a", soFar).failOf("a", series), 6, `{"a":"done"}`, `{}`)
	add("two", "Each key has its own, whatever is around it.", failing().start("a/b").failOf("a/b", soFar).start("ab").step("a/c", "1").retry("ab"), 9,
		`{"a":"failed","a/b":"failed","a/c":"done","ab":"running"}`, `{"a":`+a+`,"a/b":{`+soFar+`}}`)
	add("attempt", "A series goes on over attempts.", failing().add(kind("interrupted")).attempt(1), 6, `{"a":"failed"}`, `{"a":`+a+`}`)
	add("end-after-interrupted", "A step that ends behind an interrupted attempt has ended.", opened().start("a").start("b").interrupted().failOf("a", series).step("b", "1"), 7,
		`{"a":"failed","b":"done"}`, `{"a":`+a+`}`)
	add("epoch", "An epoch drops the troubles of its key and inside it.", failing().startOf("a/b", soFar).startOf("ab", soFar).epoch("a", 1), 7, `{"ab":"running"}`, `{"ab":{`+soFar+`}}`)
	add("epoch-and-again", "What begins behind an epoch has none.", failing().epoch("a", 1).start("a"), 6, `{"a":"running"}`, `{}`)
	add("inner-epoch", "An epoch of an inner key leaves the outer one's.", failing().startOf("a/b", soFar).epoch("a/b", 1), 6, `{"a":"failed"}`, `{"a":`+a+`}`)
	add("alias", "An alias moves the troubles with the step.", failing().startOf("a/x", soFar).alias("b", "a"), 6, `{"b":"failed","b/x":"running"}`, `{"b":`+a+`,"b/x":{`+soFar+`}}`)
	add("alias-onto-a-step", "A step that is dropped takes its troubles along.", failing().start("b").alias("b", "a"), 6, `{"b":"running"}`, `{}`)
	add("alias-onto-troubles", "A step that stays keeps its own.", failing().startOf("b", soFar).alias("b", "a"), 6, `{"b":"running"}`, `{"b":{`+soFar+`}}`)
	add("alias-old-key-anew", "A step under the old key begins without.", failing().alias("b", "a").start("a"), 6, `{"a":"running","b":"failed"}`, `{"b":`+a+`}`)
	add("clear", "A clear drops all.", failing().clear().start("a"), 6, `{"a":"running"}`, `{}`)
	all("complete", "The end of the run drops none.", failing().complete("1"), 5, "complete", `{"a":"failed"}`, "troubles", `{"a":`+a+`}`)
	all("failed-run", "Nor does its failure.", failing().failedRun(), 5, "failed", `{"a":"failed"}`, "troubles", `{"a":`+a+`}`)
}

// finalVectors has failures that are not tried again.
func finalVectors(s *set) {
	all := added(s, "final", "5, 6")
	add := func(name, comment string, b *book, records int, steps, final string) {
		all(name, comment, b, records, "in_progress", steps, "final", final, "troubles", `{}`)
	}
	const yes, no = `"final":true`, `"final":false`
	ended := func() *book { return opened().start("a").failOf("a", yes) } // 4 records
	add("fail", "A failure after which the step is not tried again.", ended(), 4, `{"a":"failed"}`, `["a"]`)
	add("false", "final may be false, which says nothing.", opened().start("a").failOf("a", no), 4, `{"a":"failed"}`, `[]`)
	add("none", "A failure that is not final.", opened().start("a").fail("a"), 4, `{"a":"failed"}`, `[]`)
	add("of-a-series", "A final failure ends a series and says nothing of it.", failing().startOf("a", soFar).failOf("a", yes), 6, `{"a":"failed"}`, `["a"]`)
	add("newest-fail", "The newest failure decides.", ended().start("a").fail("a"), 6, `{"a":"failed"}`, `[]`)
	add("running", "A step that is running is not final, whatever was before.", ended().start("a"), 5, `{"a":"running"}`, `[]`)
	add("done", "Nor one that is done.", ended().add(keyed("step", "a", `"try":1,"us":0,"by":"ann","reason":"seen"`, `"value":1`)), 5, `{"a":"done"}`, `[]`)
	add("done-stays-done", "Nor one that is done and fails.", four().failOf("a", yes), 5, `{"a":"done"}`, `[]`)
	add("retry", "A retry takes it back; the step stays failed until it is tried.", ended().retry("a"), 5, `{"a":"failed"}`, `[]`)
	add("retry-and-again", "A final failure behind a retry counts.", ended().retry("a").start("a").failOf("a", yes), 7, `{"a":"failed"}`, `["a"]`)
	add("retry-done", "A retry of a step that is done means nothing.", four().retry("a"), 5, `{"a":"done"}`, `[]`)
	add("retry-absent", "Nor does one of a step that is not there.", opened().retry("a").retry("b").start("b").failOf("b", yes), 6, `{"b":"failed"}`, `["b"]`)
	add("retry-other", "A retry reaches its key, and no key around it or inside it.",
		ended().start("a/b").failOf("a/b", yes).start("a/b/c").failOf("a/b/c", yes).retry("a/b"), 9, `{"a":"failed","a/b":"failed","a/b/c":"failed"}`, `["a","a/b/c"]`)
	add("epoch", "An epoch makes it history.", ended().epoch("a", 1).start("a"), 6, `{"a":"running"}`, `[]`)
	add("alias", "A final failure is one under the new key.", ended().alias("b", "a").retry("a"), 6, `{"b":"failed"}`, `["b"]`)
	add("alias-and-retry", "A retry goes along, and one under the new key counts.",
		ended().start("c").failOf("c", yes).retry("a").alias("b", "a").alias("d", "c").retry("d"), 10, `{"b":"failed","d":"failed"}`, `[]`)
	add("clear", "A clear drops it.", ended().clear().start("a").fail("a"), 7, `{"a":"failed"}`, `[]`)
	all("attempt", "Attempts do not take it back.", ended().failedRun().attempt(1), 6, "in_progress", `{"a":"failed"}`, "final", `["a"]`)
	all("end-after-failed", "A failed run, and what failed in it.", ended().failedRun(), 5, "failed", `{"a":"failed"}`, "final", `["a"]`)
}

// waitVectors has sleeps, and runs that wait.
func waitVectors(s *set) {
	all := added(s, "sleep", "5, 6")
	add := func(name, comment string, b *book, records int, steps, troubles, died string) {
		all(name, comment, b, records, "in_progress", steps, "troubles", troubles, "died", died)
	}
	const until = `"until":"` + later + `"`
	const nap = until + `,"wait":1800000000`
	add("start", "A step that is a sleep is running until it ends; at a death it is not under way.", opened().startOf("a", nap), 3, `{"a":"running"}`, `{"a":{`+nap+`}}`, `[]`)
	add("until", "A sleep until a time that was given.", opened().startOf("a", until), 3, `{"a":"running"}`, `{"a":{`+until+`}}`, `[]`)
	add("done", "A sleep that ended.", opened().startOf("a", nap).step("a", "null"), 4, `{"a":"done"}`, `{}`, `[]`)
	add("retry", "A retry of a sleep's failure, and the sleep anew.", opened().startOf("a", nap).fail("a").retry("a").startOf("a", until), 6, `{"a":"running"}`, `{"a":{`+until+`}}`, `[]`)
	add("no-more", "The newest start says whether a step is a sleep.", opened().startOf("a", nap).start("a"), 4, `{"a":"running"}`, `{}`, `["a"]`)
	add("of-a-series", "A sleep may be a try of a series.", failing().startOf("a", soFar, nap), 5, `{"a":"running"}`, `{"a":{`+soFar+`,`+nap+`}}`, `[]`)
	add("inside", "A step with a sleep inside is under way itself.", opened().start("a").startOf("a/s", nap), 4, `{"a":"running","a/s":"running"}`, `{"a/s":{`+nap+`}}`, `["a"]`)
	add("around", "A step inside of a sleep's key is under way.", opened().startOf("a", nap).start("a/b"), 4, `{"a":"running","a/b":"running"}`, `{"a":{`+nap+`}}`, `["a/b"]`)
	add("alias", "A sleep is one under its new key.", opened().startOf("a", nap).alias("b", "a"), 4, `{"b":"running"}`, `{"b":{`+nap+`}}`, `[]`)

	all = added(s, "waiting", "5, 6")
	wait := func(name, comment string, b *book, records int, status, steps, wake string) {
		all(name, comment, b, records, status, steps, "wake", wake)
	}
	wait("until", "A run that waits until a time.", opened().startOf("a", nap).waiting(later), 4, "waiting", `{"a":"running"}`, later)
	wait("bare", "A run that waits for something else.", opened().waiting(""), 3, "waiting", `{}`, "absent")
	wait("attempt", "An attempt ends the wait.", opened().waiting(later).attempt(1), 4, "in_progress", `{}`, "absent")
	wait("again", "The run waits again, for another time.", opened().waiting(later).attempt(1).waiting(last), 5, "waiting", `{}`, last)
	wait("again-bare", "The run waits again, for no time.", opened().waiting(later).attempt(1).waiting(""), 5, "waiting", `{}`, "absent")
	wait("steps-end", "Steps that end behind it change nothing of it.", opened().start("a").waiting(later).step("a", "1").interrupted(), 6, "waiting", `{"a":"done"}`, later)
	wait("failed", "A run that failed does not wait.", opened().failedRun().waiting(later), 4, "failed", `{}`, "absent")
	wait("and-failed", "A run that waits can fail.", opened().waiting(later).failedRun(), 4, "failed", `{}`, "absent")
	wait("complete", "A complete run does not wait.", opened().complete("1").waiting(later), 4, "complete", `{}`, "absent")
	wait("and-complete", "A run that waits can be complete.", opened().waiting(later).complete("1"), 4, "complete", `{}`, "absent")
	wait("cancelled", "A cancelled run does not wait.", opened().cancelled().waiting(later), 4, "cancelled", `{}`, "absent")
	wait("and-cancelled", "A run that waits can be cancelled.", opened().waiting(later).cancelled(), 4, "cancelled", `{}`, "absent")
	wait("reopen", "Nor does it wait when that is taken back.", opened().waiting(later).cancelled().reopen(), 5, "in_progress", `{}`, "absent")
	wait("retry", "A retry of a step that failed makes the run in progress: it can go on for that.", failing().waiting(later).retry("a"), 6, "in_progress", `{"a":"failed"}`, "absent")
	wait("retry-running", "So does one of a step that is running.", opened().start("a").waiting("").retry("a"), 5, "in_progress", `{"a":"running"}`, "absent")
	wait("retry-other", "So does one of whatever else is under the key, or of nothing.", opened().startOf("a", nap).waiting(later).retry("a").fork().attempt(1).waiting(last).retry("b"), 8, "in_progress", `{"a":"running"}`, "absent")
	wait("retry-and-waiting", "The run can wait again.", failing().waiting(later).retry("a").waiting(last), 7, "waiting", `{"a":"failed"}`, last)
	wait("retry-before", "A retry before the run waits is none of that.", failing().retry("a").waiting(later), 6, "waiting", `{"a":"failed"}`, later)
	wait("retry-failed-run", "A retry in a run that failed leaves it so.", failing().failedRun().retry("a"), 6, "failed", `{"a":"failed"}`, "absent")
	wait("retry-cancelled", "One in a run that is cancelled does not reopen it.", failing().waiting(later).cancelled().retry("a"), 7, "cancelled", `{"a":"failed"}`, "absent")
	wait("clear", "A clear ends the wait.", opened().waiting(later).clear(), 4, "in_progress", `{}`, "absent")
}

// useVectors has what runs use, and under which terms.
func useVectors(s *set) {
	all := added(s, "meter", "5, 6")
	add := func(name, comment string, b *book, records int, steps, used, by, since string) {
		all(name, comment, b, records, "in_progress", steps, "used", used, "used_by", by, "used_since", since)
	}
	add("none", "A run that used nothing.", four(), 4, `{"a":"done"}`, `{}`, `{}`, `{}`)
	add("run", "Amounts of a unit are added, and units are kept apart.", opened().meter("", "eur", "0.25").meter("", "tokens", "100").meter("", "eur", "1.5").meter("", "Eur", "2"), 6,
		`{}`, `{"eur":1.75,"tokens":100,"Eur":2}`, `{}`, `{}`)
	add("numbers", "Amounts are numbers of JSON.", opened().meter("", "t", "1e3").meter("", "t", "2.50E-1").meter("", "t", "0").meter("", "big", "9007199254740992"), 6,
		`{}`, `{"t":1000.25,"big":9007199254740992}`, `{}`, `{}`)
	add("unit-spelling", "A unit is what its JSON string means.", opened().meter("", `\u20ac`, "1").meter("", "€", "2"), 4, `{}`, `{"€":3}`, `{}`, `{}`)
	add("step", "What a step used, the run did.", opened().start("a").meter("a", "eur", "1").meter("", "eur", "2").meter("a", "t", "4"), 6,
		`{"a":"running"}`, `{"eur":3,"t":4}`, `{"a":{"eur":1,"t":4}}`, `{"a":{"eur":1,"t":4}}`)
	add("nested", "What a step used is no use of the one around it.", opened().start("a").meter("a", "eur", "1").start("a/b").meter("a/b", "eur", "2"), 6,
		`{"a":"running","a/b":"running"}`, `{"eur":3}`, `{"a":{"eur":1},"a/b":{"eur":2}}`, `{"a":{"eur":1},"a/b":{"eur":2}}`)
	add("tries", "All tries of a step count; behind its newest start is what the newest one used.",
		opened().start("a").meter("a", "eur", "1").meter("a", "t", "7").fail("a").meter("a", "eur", "8").start("a").meter("a", "eur", "2").step("a", "1").meter("a", "eur", "4"), 11,
		`{"a":"done"}`, `{"eur":15,"t":7}`, `{"a":{"eur":15,"t":7}}`, `{"a":{"eur":6}}`)
	add("start-inside", "A start of another step is none of this one.", opened().start("a").meter("a", "eur", "1").start("a/b").start("ab"), 6,
		`{"a":"running","a/b":"running","ab":"running"}`, `{"eur":1}`, `{"a":{"eur":1}}`, `{"a":{"eur":1}}`)
	add("epoch", "An epoch drops what is known of its key and inside it; the run has used it.",
		opened().start("a").meter("a", "eur", "1").start("a/b").meter("a/b", "eur", "2").start("ab").meter("ab", "eur", "4").epoch("a", 1).start("a").meter("a", "eur", "8"), 11,
		`{"a":"running","ab":"running"}`, `{"eur":15}`, `{"a":{"eur":8},"ab":{"eur":4}}`, `{"a":{"eur":8},"ab":{"eur":4}}`)
	add("alias", "Use goes along with the step, and more is added to it there.",
		opened().start("a").meter("a", "eur", "1").start("a").meter("a", "eur", "2").start("a/x").meter("a/x", "eur", "4").alias("b", "a").meter("b", "eur", "8"), 10,
		`{"b":"running","b/x":"running"}`, `{"eur":15}`, `{"b":{"eur":11},"b/x":{"eur":4}}`, `{"b":{"eur":10},"b/x":{"eur":4}}`)
	add("alias-onto-a-step", "Use of a step that is dropped is none of the one that stays; the run has used it.",
		opened().start("a").meter("a", "eur", "1").start("b").alias("b", "a"), 6, `{"b":"running"}`, `{"eur":1}`, `{}`, `{}`)
	add("alias-old-key-anew", "A step under the old key has used nothing yet.",
		opened().start("a").meter("a", "eur", "1").alias("b", "a").start("a").meter("a", "eur", "2"), 7, `{"a":"running","b":"running"}`, `{"eur":3}`,
		`{"a":{"eur":2},"b":{"eur":1}}`, `{"a":{"eur":2},"b":{"eur":1}}`)
	add("before-start", "What is used under a key counts for the step that begins there later.", opened().meter("a", "eur", "1").start("a").meter("a", "eur", "2"), 5,
		`{"a":"running"}`, `{"eur":3}`, `{"a":{"eur":3}}`, `{"a":{"eur":2}}`)
	add("retry", "A retry gives nothing back.", opened().start("a").meter("a", "eur", "1").fail("a").retry("a"), 6, `{"a":"failed"}`, `{"eur":1}`, `{"a":{"eur":1}}`, `{"a":{"eur":1}}`)
	add("clear", "A clear drops it all.", opened().start("a").meter("a", "eur", "1").meter("", "eur", "2").clear().meter("", "eur", "4"), 7, `{}`, `{"eur":4}`, `{}`, `{}`)
	all("complete", "What is used behind the end counts.", four().complete("1").meter("", "eur", "1").meter("a", "eur", "2"), 7, "complete", `{"a":"done"}`, "used", `{"eur":3}`, "used_by", `{"a":{"eur":2}}`)

	const most = "1.7976931348623157e+308"
	add("too-much", "A sum that is too large for a binary64 number is the largest one.", opened().start("a").meter("a", "eur", "1.5e308").meter("a", "eur", "1.5e308").meter("a", "t", "1"), 6, `{"a":"running"}`,
		`{"eur":`+most+`,"t":1}`, `{"a":{"eur":`+most+`,"t":1}}`, `{"a":{"eur":`+most+`,"t":1}}`)
	add("amount-too-large", "So is an amount that is.", opened().start("a").meter("a", "eur", "1e999").start("a").meter("a", "eur", "2"), 6, `{"a":"running"}`,
		`{"eur":`+most+`}`, `{"a":{"eur":`+most+`}}`, `{"a":{"eur":2}}`)

	terms := func(name, comment string, b *book, records, attempts int, status, deadline, within, budget string) {
		s.add("terms-"+name, "5", comment, b.b, clean(records, len(b.b), meaning{status, attempts, `{}`, "?", ""}).also("deadline", deadline, "within", within, "budget", budget))
	}
	const absent = "absent"
	limits := `"deadline":"` + last + `","within":86400000000,"budget":{"eur":2.5,"tokens":1000}`
	terms("none", "An attempt without terms.", opened(), 2, 1, "in_progress", absent, "0", `{}`)
	terms("all", "An attempt with all of them.", run().under(1, limits), 2, 1, "in_progress", last, "86400000000", `{"eur":2.5,"tokens":1000}`)
	terms("deadline", "A deadline alone.", run().under(1, `"deadline":"`+last+`"`), 2, 1, "in_progress", last, "0", `{}`)
	terms("budget-empty", "A budget that names no unit.", run().under(1, `"budget":{}`), 2, 1, "in_progress", absent, "0", `{}`)
	terms("newest", "The newest attempt's terms count.", run().under(1, limits).under(2, `"deadline":"`+later+`","budget":{"eur":3}`), 3, 2, "in_progress", later, "0", `{"eur":3}`)
	terms("no-more", "An attempt without terms has none.", run().under(1, limits).attempt(2), 3, 2, "in_progress", absent, "0", `{}`)
	terms("clear", "A clear leaves attempts.", run().under(1, limits).clear(), 3, 1, "in_progress", last, "86400000000", `{"eur":2.5,"tokens":1000}`)
	terms("complete", "So does the end.", run().under(1, limits).complete("1"), 3, 1, "complete", last, "86400000000", `{"eur":2.5,"tokens":1000}`)
	terms("budget-too-large", "A limit that is too large for a binary64 number is the largest one.", run().under(1, `"budget":{"eur":1e999,"t":1}`), 2, 1, "in_progress", absent, "0", `{"eur":`+most+`,"t":1}`)
	terms("moved", "An attempt that was moved has its terms.", run().kept(kind("attempt", `"was":2,"n":1,"host":"example","pid":4711`, limits)), 2, 1, "in_progress", last, "86400000000", `{"eur":2.5,"tokens":1000}`)
	terms("nobody", "A run that nobody opened.", run(), 1, 0, "in_progress", absent, "0", `{}`)
}

// deathVectors has processes that died.
func deathVectors(s *set) {
	under := func(name, comment string, b *book, records, attempts int, status, steps, died string) {
		s.add("died-"+name, "6", comment, b.b, clean(records, len(b.b), meaning{status, attempts, steps, "?", ""}).also("died", died))
	}
	const going, absent = "in_progress", "absent"
	under("step", "A process that did not say that it ended died, and a step was under way.", opened().done("a", "1").start("b"), 5, 1, going, `{"a":"done","b":"running"}`, `["b"]`)
	under("idle", "A process died and no step was under way.", opened(), 2, 1, going, `{}`, `[]`)
	under("nobody", "Where nobody opened the run, nobody died.", run(), 1, 0, going, `{}`, absent)
	for _, end := range []struct{ kind, status string }{{"failed", "failed"}, {"interrupted", going}, {"waiting", "waiting"}, {"complete", "complete"}} {
		b := opened().start("a")
		if end.kind == "complete" {
			b.complete("1")
		} else {
			b.add(kind(end.kind))
		}
		under("not-"+end.kind, "A process that said how it ended did not die ("+end.kind+").", b, 4, 1, end.status, `{"a":"running"}`, absent)
		under("after-"+end.kind, "The next one did ("+end.kind+").", b.fork().attempt(2).start("b"), 6, 2,
			strings.ReplaceAll(strings.ReplaceAll(end.status, "failed", going), "waiting", going), `{"a":"running","b":"running"}`, `["b"]`)
	}
	under("not-steps-end", "Steps that end behind the process's end do not make it die.", opened().start("a").start("b").interrupted().step("a", "1").fail("b"), 7, 1, going, `{"a":"done","b":"failed"}`, absent)
	under("steps-ended", "Steps that ended are not under way.", opened().start("a").start("b").step("a", "1").failOf("b", series).start("c"), 7, 1, going,
		`{"a":"done","b":"failed","c":"running"}`, `["c"]`)
	under("several", "Several steps were under way.", opened().start("b").start("a").start("c/d"), 5, 1, going, `{"a":"running","b":"running","c/d":"running"}`, `["a","b","c/d"]`)
	under("nested", "Of steps within steps the inner ones are under way.", opened().start("a").start("a/b").start("a/c").start("a/c/d").step("a/c/d", "1").start("e"), 8, 1, going,
		`{"a":"running","a/b":"running","a/c":"running","a/c/d":"done","e":"running"}`, `["a/b","a/c","e"]`)
	under("nested-deep", "Also where steps between are not there.", opened().start("a").start("a/s/t/u").start("a/x/y").fail("a/x/y"), 6, 1, going,
		`{"a":"running","a/s/t/u":"running","a/x/y":"failed"}`, `["a/s/t/u"]`)
	under("names", "A key that only looks like an inner one is none.", opened().start("a").start("ab").start("a b").start("A/x"), 6, 1, going,
		`{"a":"running","ab":"running","a b":"running","A/x":"running"}`, `["A/x","a","a b","ab"]`)
	under("in-a-row", "A step that an attempt before the newest one began is not under way.", opened().start("a").attempt(2).start("b").attempt(3).start("c"), 7, 3, going,
		`{"a":"running","b":"running","c":"running"}`, `["c"]`)
	under("in-a-row-again", "Its newest start decides.", opened().start("a").start("b").attempt(2).start("a"), 6, 2, going, `{"a":"running","b":"running"}`, `["a"]`)
	under("nested-older", "A step has none such inside if what is inside began before.", opened().start("a").start("a/b").attempt(2).start("a"), 6, 2, going, `{"a":"running","a/b":"running"}`, `["a"]`)
	under("nested-older-outer", "Nor does an outer step that began before hide one.", opened().start("a").attempt(2).start("a/b"), 5, 2, going, `{"a":"running","a/b":"running"}`, `["a/b"]`)
	under("done-stays-done", "A start of a step that is done does not make it run.", four().start("a"), 5, 1, going, `{"a":"done"}`, `[]`)
	under("epoch", "A step that is history was not under way.", opened().start("a").start("b").start("a/b").epoch("a", 1), 6, 1, going, `{"b":"running"}`, `["b"]`)
	under("epoch-inner", "If only the inner one is, the outer one was.", opened().start("a").start("a/b").epoch("a/b", 1), 5, 1, going, `{"a":"running"}`, `["a"]`)
	under("alias", "A step is under way under its new key, and began when it began.", opened().start("a").attempt(2).start("c").alias("b", "a").alias("d", "c"), 7, 2, going, `{"b":"running","d":"running"}`, `["d"]`)
	under("alias-inside", "A step that is moved into another one is inside.", opened().start("a").start("b").alias("a/b", "b"), 5, 1, going, `{"a":"running","a/b":"running"}`, `["a/b"]`)
	under("alias-out", "And one that is moved out is not.", opened().start("a").start("a/b").alias("b", "a/b"), 5, 1, going, `{"a":"running","b":"running"}`, `["a","b"]`)
	under("clear", "A clear drops the steps, and not the attempt.", opened().start("a").clear().start("b"), 5, 1, going, `{"b":"running"}`, `["b"]`)
	under("cancelled", "A cancellation ends the attempt: whatever became of the process then, no step is to blame.", opened().start("a").cancelled(), 4, 1, "cancelled", `{"a":"running"}`, absent)
	under("cancelled-reopened", "Also when it was taken back.", opened().start("a").cancelled().reopen(), 5, 1, going, `{"a":"running"}`, absent)
	under("cancelled-complete", "A complete run cannot be cancelled, and nothing ends thereby.", opened().complete("1").attempt(2).start("b").cancelled(), 6, 2, "complete", `{"b":"running"}`, `["b"]`)
	under("cancelled-attempt", "The next attempt can.", opened().start("a").cancelled().reopen().attempt(2).start("b"), 7, 2, going, `{"a":"running","b":"running"}`, `["b"]`)
	under("cancelled-ended", "The end of the attempt changes nothing of that.", opened().start("a").cancelled().interrupted(), 5, 1, "cancelled", `{"a":"running"}`, absent)
	under("in-complete", "What an attempt of a complete run says of its end does not count.", opened().complete("1").attempt(2).start("b").interrupted(), 6, 2, "complete", `{"b":"running"}`, `["b"]`)
	under("complete-again", "A second result ends an attempt of a complete run.", opened().complete("1").attempt(2).start("b").complete("2"), 6, 2, "complete", `{"b":"running"}`, absent)
	under("clear-ends", "Behind a clear nothing says any more that the attempt ended.", opened().complete("1").clear().start("b"), 5, 1, going, `{"b":"running"}`, `["b"]`)
	under("crash-is-no-end", "A crash that is recorded is no end of an attempt; the attempt behind it is the newest.", opened().start("a").crash("a", 1, 0), 4, 1, going, `{"a":"running"}`, `["a"]`)

	all := added(s, "crash", "5, 6")
	add := func(name, comment string, b *book, records int, steps, final, troubles string) {
		all(name, comment, b, records, going, steps, "final", final, "troubles", troubles)
	}
	died := func() *book { return opened().start("a").crash("a", 1, 0).attempt(1) } // 5 records
	add("step", "A death while the step was under way.", died(), 5, `{"a":"running"}`, `[]`, `{"a":{"deaths":1}}`)
	add("others", "Others were under way with it, so that this is no death in a row yet.", opened().start("a").start("b").crash("a", 0, 1).crash("b", 0, 1).attempt(1), 7,
		`{"a":"running","b":"running"}`, `[]`, `{"a":{"others":1},"b":{"others":1}}`)
	add("newest", "The newest one counts.", died().start("a").crash("a", 2, 0).attempt(1).start("a").crash("a", 2, 3).attempt(1), 11, `{"a":"running"}`, `[]`, `{"a":{"deaths":2,"others":3}}`)
	add("alone-again", "With all that it says.", opened().start("a").crash("a", 0, 2).crash("a", 1, 0), 5, `{"a":"running"}`, `[]`, `{"a":{"deaths":1}}`)
	add("start", "A start leaves the count.", died().start("a"), 6, `{"a":"running"}`, `[]`, `{"a":{"deaths":1}}`)
	add("done", "A value ends it.", died().start("a").step("a", "1"), 7, `{"a":"done"}`, `[]`, `{}`)
	add("fail", "A failure ends it: then the deaths are no more in a row.", died().start("a").fail("a"), 7, `{"a":"failed"}`, `[]`, `{}`)
	add("fail-series", "So does one after which the step is tried again.", died().start("a").failOf("a", series), 7, `{"a":"failed"}`, `[]`, `{"a":{`+series+`}}`)
	add("fail-and-again", "And it begins anew.", died().start("a").fail("a").start("a").crash("a", 1, 0), 9, `{"a":"running"}`, `[]`, `{"a":{"deaths":1}}`)
	add("in-a-series", "A series and deaths stand beside each other.", failing().startOf("a", soFar).crash("a", 1, 0).attempt(1).startOf("a", soFar), 8, `{"a":"running"}`, `[]`,
		`{"a":{`+soFar+`,"deaths":1}}`)
	poisoned := func() *book { return died().start("a").crash("a", 2, 0).failOf("a", `"final":true,"poison":true`) } // 8 records
	add("poison", "A failure since its processes died leaves the count.", poisoned(), 8, `{"a":"failed"}`, `["a"]`, `{"a":{"poison":true,"deaths":2}}`)
	add("poison-false", "poison may be false, which says nothing.", died().failOf("a", `"final":true,"poison":false`), 6, `{"a":"failed"}`, `["a"]`, `{}`)
	add("poison-retry", "A retry takes it all back.", poisoned().retry("a"), 9, `{"a":"failed"}`, `[]`, `{}`)
	add("poison-retry-and-again", "The next death is the first one.", poisoned().retry("a").start("a").crash("a", 1, 0), 11, `{"a":"running"}`, `[]`, `{"a":{"deaths":1}}`)
	add("poison-start", "A start ends what the failure said, and no more.", poisoned().start("a"), 9, `{"a":"running"}`, `[]`, `{"a":{"deaths":2}}`)
	add("poison-fail", "A failure without it ends both.", poisoned().start("a").fail("a"), 10, `{"a":"failed"}`, `[]`, `{}`)
	add("retry-running", "A retry of a step that is running ends its series, and its deaths are forgotten.", died().startOf("a", soFar).retry("a"), 7, `{"a":"running"}`, `[]`, `{}`)
	add("retry-running-and-again", "The next death is the first one; the series stays ended.", died().startOf("a", soFar).retry("a").crash("a", 1, 0), 8, `{"a":"running"}`, `[]`, `{"a":{"deaths":1}}`)
	add("retry-sleep", "A retry of a sleep that has not ended does nothing, whatever is said of its deaths.", opened().startOf("a", `"until":"`+later+`"`).crash("a", 1, 0).retry("a"), 5, `{"a":"running"}`, `[]`,
		`{"a":{"until":"`+later+`","deaths":1}}`)
	add("retry-done", "A retry of a step that is done does nothing.", four().crash("a", 1, 0).retry("a"), 6, `{"a":"done"}`, `[]`, `{"a":{"deaths":1}}`)
	add("retry-absent", "Nor does one of a step that is not there.", opened().crash("a", 1, 0).retry("a").start("a"), 5, `{"a":"running"}`, `[]`, `{"a":{"deaths":1}}`)
	add("before-start", "Deaths are those of the key: where a start is gone, or is none yet, they count for the next one.", opened().crash("a", 1, 0).attempt(1).start("a"), 5,
		`{"a":"running"}`, `[]`, `{"a":{"deaths":1}}`)
	add("epoch", "An epoch drops the deaths of its key and inside it.", died().start("a/b").crash("a/b", 1, 0).start("ab").crash("ab", 1, 0).epoch("a", 1).start("a").start("a/b"), 12,
		`{"a":"running","a/b":"running","ab":"running"}`, `[]`, `{"ab":{"deaths":1}}`)
	add("alias", "An alias moves the deaths with the step.", died().start("a/b").crash("a/b", 1, 2).alias("b", "a").start("a"), 9,
		`{"a":"running","b":"running","b/b":"running"}`, `[]`, `{"b":{"deaths":1},"b/b":{"deaths":1,"others":2}}`)
	add("alias-onto-a-step", "Deaths of a step that is dropped are none of the one that stays.", died().start("b").alias("b", "a"), 7, `{"b":"running"}`, `[]`, `{}`)
	add("alias-and-end", "They end under the new key.", died().alias("b", "a").fail("b"), 7, `{"b":"failed"}`, `[]`, `{}`)
	add("alias-poison", "Poison is moved too, and a retry there takes it back.", poisoned().alias("b", "a").start("c").crash("c", 1, 0).failOf("c", `"final":true,"poison":true`).alias("d", "c").retry("d"), 14,
		`{"b":"failed","d":"failed"}`, `["b"]`, `{"b":{"poison":true,"deaths":2}}`)
	add("clear", "A clear drops all.", poisoned().clear().start("a"), 10, `{"a":"running"}`, `[]`, `{}`)
}

// aloneVectors has epochs of a step that leave what is inside it.
func aloneVectors(s *set) {
	alone := func(b *book, key string, n int) *book {
		return b.add(keyed("epoch", key, fmt.Sprintf(`"n":%d,"reason":"r","alone":true`, n)))
	}
	add := func(name, comment string, b *book, records int, steps string, more ...string) {
		s.add("alone-"+name, "5, 6", comment, b.b, clean(records, len(b.b), meaning{"in_progress", 1, steps, "?", ""}).also(more...))
	}
	full := func() *book { // 12 records
		return opened().startOf("a", soFar).note("a", "1").stateOf("a", "2").meter("a", "eur", "1").add(keyed("map", "a", `"total":1,"done":0`)).
			startOf("a/x", soFar).note("a/x", "3").stateOf("a/x", "4").meter("a/x", "eur", "2").crash("a/x", 1, 0)
	}
	add("epoch", "The step, its note, troubles and use are history; its state, its Map and all that is inside stay.", alone(full(), "a", 1), 13, `{"a/x":"running"}`,
		"notes", `{"a/x":"3"}`, "states", `{"a":"2","a/x":"4"}`, "maps", `{"a":[]}`, "troubles", `{"a/x":{`+soFar+`,"deaths":1}}`, "used", `{"eur":3}`, "used_by", `{"a/x":{"eur":2}}`)
	add("false", "alone may be false, which says nothing.", full().add(keyed("epoch", "a", `"n":1,"reason":"r","alone":false`)), 13, `{}`, "notes", `{}`, "states", `{}`, "maps", `{}`, "used_by", `{}`)
	add("done", "A step that was done is absent.", alone(opened().done("a", "1").done("a/x", "2"), "a", 1), 7, `{"a/x":"done"}`)
	add("idempotency", "It counts for the idempotency key of its step, and not for those inside.", alone(opened().start("a").start("a/x"), "a", 1).start("a"), 6, `{"a":"running","a/x":"running"}`,
		"idempotency", `{"a":"`+idem("a\x001@1")+`","a/x":"`+idem("a/x")+`"}`)
	add("idempotency-mixed", "For what is inside the newest one without alone counts.", alone(opened().epoch("a", 3), "a", 4).start("a").start("a/x"), 6, `{"a":"running","a/x":"running"}`,
		"idempotency", `{"a":"`+idem("a\x004@1")+`","a/x":"`+idem("a/x\x003@1")+`"}`)
	add("then-whole", "One without alone later counts for both.", alone(opened(), "a", 1).epoch("a", 2).start("a").start("a/x"), 6, `{"a":"running","a/x":"running"}`,
		"idempotency", `{"a":"`+idem("a\x002@1")+`","a/x":"`+idem("a/x\x002@1")+`"}`)
	add("and-alias", "An alias counts as one more, for what is inside too.", alone(opened(), "a", 1).start("a").alias("b", "a").start("a").start("a/x"), 7, `{"a":"running","a/x":"running","b":"running"}`,
		"idempotency", `{"a":"`+idem("a\x002@1")+`","a/x":"`+idem("a/x\x002@1")+`","b":"`+idem("a\x001@1")+`"}`)
	add("died", "A step is under way if the one around it is history.", alone(opened().start("a").start("a/x"), "a/x", 1), 5, `{"a":"running"}`, "died", `["a"]`)
}

// cancelVectors has runs that somebody cancelled.
func cancelVectors(s *set) {
	add := func(name, comment string, b *book, records, attempts int, status, steps, result, cancel string) {
		s.add("cancel-"+name, "5, 6", comment, b.b, clean(records, len(b.b), meaning{status, attempts, steps, result, ""}).also("cancel", cancel))
	}
	const by = `{"by":"ann","reason":"ordered twice","mail":"m1"}`
	const going, off, absent = "in_progress", "cancelled", `{}`
	add("run", "Somebody cancelled the run.", opened().cancelled(), 3, 1, off, `{}`, "", by)
	add("unopened", "Before anybody opened it.", run().cancelled(), 2, 0, off, `{}`, "", by)
	add("steps", "Steps that end behind it have ended; the run stays cancelled.", opened().start("a").start("b").cancelled().step("a", "1").fail("b").start("c"), 8, 1, off,
		`{"a":"done","b":"failed","c":"running"}`, "", by)
	add("interrupted", "Then the attempt ends.", opened().start("a").cancelled().interrupted().step("a", "1"), 6, 1, off, `{"a":"done"}`, "", by)
	add("failed", "An error behind it does not make the run failed.", opened().cancelled().failedRun(), 4, 1, off, `{}`, "", by)
	add("attempt", "An attempt behind it, which no writer may begin, leaves the run cancelled.", opened().cancelled().attempt(2), 4, 2, off, `{}`, "", by)
	add("complete", "A complete run cannot be cancelled.", opened().complete("1").cancelled(), 4, 1, "complete", `{}`, "1", absent)
	add("and-complete", "A result behind it, which no writer may record, completes the run.", opened().cancelled().complete("1"), 4, 1, "complete", `{}`, "1", absent)
	add("and-complete-reopen", "Then a reopen means nothing.", opened().cancelled().complete("1").reopen(), 5, 1, "complete", `{}`, "1", absent)
	add("and-complete-clear", "And a clear leaves nothing of it.", opened().cancelled().complete("1").clear(), 5, 1, going, `{}`, "", absent)
	add("failed-run", "A run that failed can be cancelled.", opened().failedRun().cancelled(), 4, 1, off, `{}`, "", by)
	add("failed-run-reopen", "When that is taken back it is in progress.", opened().failedRun().cancelled().reopen(), 5, 1, going, `{}`, "", absent)
	add("reopen", "Somebody took it back.", opened().start("a").cancelled().reopen(), 5, 1, going, `{"a":"running"}`, "", absent)
	add("reopen-attempt", "And the run goes on.", opened().cancelled().interrupted().reopen().attempt(2).complete("1"), 7, 2, "complete", `{}`, "1", absent)
	add("reopen-in-progress", "A reopen of a run that is not cancelled means nothing: one in progress,", opened().reopen(), 3, 1, going, `{}`, "", absent)
	add("reopen-failed", "one that failed,", opened().failedRun().reopen(), 4, 1, "failed", `{}`, "", absent)
	add("reopen-waiting", "one that waits,", opened().waiting(later).reopen(), 4, 1, "waiting", `{}`, "", absent)
	add("reopen-complete", "one that is complete.", opened().complete("1").reopen(), 4, 1, "complete", `{}`, "1", absent)
	add("twice", "Of two in a row the newest one counts.", opened().cancelled().add(kind("cancelled", `"by":"carl","reason":"","mail":"m2"`)), 4, 1, off, `{}`, "", `{"by":"carl","reason":"","mail":"m2"}`)
	add("again", "Cancelled again by somebody else.", opened().cancelled().reopen().add(kind("cancelled", `"by":"carl \u001b[31m","reason":"","mail":"m2"`)), 5, 1, off, `{}`, "",
		`{"by":"carl \u001b[31m","reason":"","mail":"m2"}`)
	add("clear", "A clear makes it in progress.", opened().cancelled().clear(), 4, 1, going, `{}`, "", absent)
	add("clear-failed", "Then it can fail.", opened().cancelled().clear().failedRun(), 5, 1, "failed", `{}`, "", absent)
}

// compactTroubleVectors has what a compaction keeps of all that (section 10).
func compactTroubleVectors(s *set) {
	// Each time the old file had 30 records; was tells their numbers.
	compacted := func() *book {
		b := newBook()
		b.seq, b.prev, b.dur = 30, "00c0ffee", 30
		return b.kept(kind("run", identity(1, "r1", uid, 2)))
	}
	add := func(name, comment string, b *book, records, attempts int, status, steps string, more ...string) {
		s.add("compact-"+name, "6, 10", comment, b.b, clean(records, len(b.b), meaning{status, attempts, steps, "?", ""}).also(more...))
	}
	attempt := kind("attempt", `"was":20,"n":4,"host":"example","pid":4711`)
	b := compacted().kept(keyed("start", "a", `"was":18,"try":1`)).kept(keyed("fail", "a", `"was":19,"try":1,"us":5,"error":"no"`, series)).kept(attempt).kept(keyed("start", "a", `"was":21,"try":2`, soFar))
	add("series", "Of a series the newest start and failure are left.", b, 5, 4, "in_progress", `{"a":"running"}`, "troubles", `{"a":{`+soFar+`}}`, "died", `["a"]`)
	b = compacted().kept(keyed("start", "a", `"was":12,"try":3`)).kept(keyed("fail", "a", `"was":13,"try":3,"us":5,"error":"no","final":true`)).kept(keyed("retry", "a", `"was":19,"by":"ann","reason":"r"`)).kept(attempt)
	add("retry", "A retry that still counts.", b, 5, 4, "in_progress", `{"a":"failed"}`, "final", `[]`, "troubles", `{}`)
	b = compacted().kept(keyed("crash", "a", `"was":19,"n":2,"others":0`)).kept(attempt).kept(keyed("start", "a", `"was":21,"try":4`))
	add("crash", "The newest crash counts for a step whose newest start, behind it, is the only one that is left.", b, 4, 4, "in_progress", `{"a":"running"}`,
		"troubles", `{"a":{"deaths":2}}`, "died", `["a"]`)
	b = compacted().kept(keyed("crash", "s/a", `"was":18,"n":2,"others":0`)).kept(keyed("crash", "a", `"was":19,"n":2,"others":0`)).kept(attempt).kept(keyed("start", "a", `"was":21,"try":4`)).
		start("s/a").epoch("s", 1).start("s/a").step("a", "1").start("a")
	add("crash-and-end", "And it ends as it would have.", b, 10, 4, "in_progress", `{"a":"done","s/a":"running"}`, "troubles", `{}`)
	b = compacted().kept(keyed("start", "a", `"was":12,"try":3`)).kept(keyed("crash", "a", `"was":19,"n":2,"others":0`)).kept(attempt).kept(keyed("start", "a", `"was":21,"try":4`))
	add("crash-and-more", "Deaths that come later count on.", b.crash("a", 3, 0).attempt(5), 7, 5, "in_progress", `{"a":"running"}`, "troubles", `{"a":{"deaths":3}}`, "died", `[]`)
	b = compacted().kept(keyed("meter", "a", `"was":5,"unit":"eur","amount":1`)).kept(keyed("start", "a", `"was":6,"try":2`)).kept(keyed("meter", "a", `"was":7,"unit":"eur","amount":2`)).
		kept(keyed("step", "a", `"was":8,"try":2,"us":5`, `"value":1`)).kept(kind("meter", `"was":9,"unit":"eur","amount":4`)).kept(keyed("epoch", "b", `"was":11,"n":2,"reason":"r"`)).kept(attempt)
	add("meter", "Everything that was metered, where it was.", b, 8, 4, "in_progress", `{"a":"done"}`, "used", `{"eur":7}`, "used_by", `{"a":{"eur":3}}`, "used_since", `{"a":{"eur":2}}`)
	b = compacted().kept(keyed("meter", "b", `"was":4,"unit":"eur","amount":1`)).kept(keyed("epoch", "b", `"was":5,"n":1,"reason":"r"`)).kept(attempt).start("b").meter("b", "eur", "2")
	add("meter-epoch", "Also what an epoch made history of its key: the run has used it.", b, 6, 4, "in_progress", `{"b":"running"}`, "used", `{"eur":3}`, "used_by", `{"b":{"eur":2}}`)
	b = compacted().kept(keyed("meter", "s/a", `"was":4,"unit":"eur","amount":1`)).kept(keyed("epoch", "s", `"was":5,"n":1,"reason":"r"`)).kept(attempt).kept(keyed("start", "s/a", `"was":21,"try":1`))
	add("meter-epoch-around", "Nothing of a step is left by an epoch around it, whatever is left in the file.", b, 5, 4, "in_progress", `{"s/a":"running"}`, "used", `{"eur":1}`, "used_by", `{}`)
	b = compacted().kept(keyed("meter", "s/a", `"was":4,"unit":"eur","amount":1`)).kept(keyed("alias", "t", `"was":5,"from":"s"`)).kept(attempt).kept(keyed("start", "s/a", `"was":21,"try":1`))
	add("meter-alias-around", "Nor by an alias of a key around it, which found another step there.", b, 5, 4, "in_progress", `{"s/a":"running"}`, "used", `{"eur":1}`, "used_by", `{}`)
	b = compacted().kept(keyed("start", "a", `"was":4,"try":1`)).kept(keyed("meter", "a", `"was":5,"unit":"eur","amount":1`)).kept(keyed("alias", "b", `"was":6,"from":"a"`)).kept(attempt)
	add("meter-alias", "And what an alias moved.", b, 5, 4, "in_progress", `{"b":"running"}`, "used", `{"eur":1}`, "used_by", `{"b":{"eur":1}}`, "used_since", `{"b":{"eur":1}}`)
	b = compacted().kept(attempt).kept(kind("cancelled", `"was":21,"by":"ann","reason":"ordered twice","mail":"m1"`))
	add("cancelled", "The cancellation that is in force.", b, 3, 4, "cancelled", `{}`, "cancel", `{"by":"ann","reason":"ordered twice","mail":"m1"}`)
	add("cancelled-reopen", "It can be taken back.", b.fork().reopen().attempt(5), 5, 5, "in_progress", `{}`, "cancel", `{}`)
	b = compacted().kept(attempt).kept(kind("waiting", `"was":21,"until":"`+later+`"`)).kept(kind("cancelled", `"was":22,"by":"ann","reason":"r","mail":"m1"`)).
		kept(kind("reopen", `"was":23,"by":"bob","reason":"r"`))
	add("reopened", "One that was taken back means something as long as no attempt came: the run does not wait any more.", b, 5, 4, "in_progress", `{}`, "cancel", `{}`, "wake", "absent", "died", "absent")
	b = compacted().kept(attempt).kept(kind("failed", `"was":21,"error":"no"`)).kept(kind("cancelled", `"was":22,"by":"ann","reason":"r","mail":"m1"`)).
		kept(kind("interrupted", `"was":23`))
	add("cancelled-interrupted", "A run that failed, was cancelled, and whose owner ended after that.", b, 5, 4, "cancelled", `{}`, "cancel", `{"by":"ann","reason":"r","mail":"m1"}`, "died", "absent")
	b = compacted().kept(attempt).kept(keyed("start", "a", `"was":21,"try":1`)).kept(kind("complete", `"was":24,"value":1`)).kept(kind("attempt", `"was":25,"n":5,"host":"example","pid":4711`)).start("b").interrupted()
	add("complete-opened", "A complete run that was opened again: what ended that attempt does not count, as in the file before.", b, 7, 5, "complete", `{"a":"running","b":"running"}`, "died", `["b"]`)
	b = compacted().kept(keyed("start", "a", `"was":3,"try":1`)).kept(keyed("crash", "a", `"was":8,"n":3,"others":0`)).kept(keyed("fail", "a", `"was":9,"try":2,"us":5,"error":"no","final":true,"poison":true`)).kept(attempt)
	add("poison", "Poison, its deaths and its failure.", b, 5, 4, "in_progress", `{"a":"failed"}`, "final", `["a"]`, "troubles", `{"a":{"poison":true,"deaths":3}}`)
	b = compacted().kept(attempt).kept(keyed("start", "a", `"was":21,"try":1`, soFar)).kept(keyed("retry", "a", `"was":24,"by":"ann","reason":"r"`)).kept(keyed("crash", "a", `"was":25,"n":1,"others":0`))
	add("retry-crash", "A retry of a step that is running, which ended a series, and a crash behind it: both still count.", b, 5, 4, "in_progress", `{"a":"running"}`, "troubles", `{"a":{"deaths":1}}`, "died", `["a"]`)
	b = compacted().kept(keyed("start", "a", `"was":3,"try":1`)).kept(attempt).kept(kind("waiting", `"was":22,"until":"`+later+`"`)).kept(keyed("retry", "a", `"was":23,"by":"ann","reason":"r"`)).
		kept(keyed("fail", "a", `"was":24,"try":1,"us":5,"error":"no"`, series))
	add("retry-waiting", "A retry that made a waiting run go on counts for that, whatever became of its step.", b, 6, 4, "in_progress", `{"a":"failed"}`, "wake", "absent", "troubles", `{"a":{`+series+`}}`, "died", "absent")
	b = compacted().kept(attempt).kept(kind("waiting", `"was":22`)).kept(keyed("retry", "a", `"was":23,"by":"ann","reason":"r"`)).kept(keyed("epoch", "a", `"was":24,"n":1,"reason":"r"`))
	add("retry-waiting-gone", "Also where the step is gone.", b, 5, 4, "in_progress", `{}`, "wake", "absent", "died", "absent")
	b = compacted().kept(attempt).kept(keyed("await", "q", `"was":21,"in":"00112233445566778899aabbccddeeff"`, `"until":"`+last+`"`, `"value":"ok?"`)).
		kept(keyed("await", "r", `"was":22,"in":"00112233445566778899aabbccddeeff"`, `"value":"ok?"`)).kept(keyed("answer", "r", `"was":24,"by":"ann","reason":"r"`, `"value":true`)).
		kept(kind("waiting", `"was":27,"until":"`+last+`"`))
	add("await", "Questions, and of those that were answered the answer too; no refusals.", b, 6, 4, "waiting", `{"q":"waiting","r":"done"}`, "wake", last, "troubles", `{"q":{"until":"`+last+`"}}`, "died", "absent")
	b = compacted().kept(keyed("meter", "q", `"was":4,"unit":"eur","amount":1`)).kept(attempt).kept(keyed("await", "q", `"was":21,"in":"00112233445566778899aabbccddeeff"`, `"value":"ok?"`)).meter("q", "eur", "2")
	add("await-meter", "A question takes the place of the starts of its key; behind it is what is used since.", b, 5, 4, "in_progress", `{"q":"waiting"}`, "used", `{"eur":3}`, "used_by", `{"q":{"eur":3}}`, "used_since", `{"q":{"eur":2}}`)
	b = compacted().kept(kind("attempt", `"was":20,"n":4,"host":"example","pid":4711`)).kept(keyed("await", "q", `"in":"`+strings.Repeat("f", 32)+`"`, `"value":null`)).kept(keyed("answer", "q", `"was":23,"by":"ann","reason":"r"`, `"value":1`)).
		kept(kind("repair", `"lost":1,"missing_from":21,"missing_to":22`))
	add("repaired-await", "What a repair writes where the question of an answer is lost.", b, 5, 4, "in_progress", `{"q":"done"}`, "idempotency", `{"q":"`+idem("q")+`"}`)
	b = compacted().kept(keyed("start", "old", `"was":3,"try":1`)).kept(keyed("alias", "a", `"was":6,"from":"old"`)).kept(keyed("fail", "a", `"was":9,"try":2,"us":5,"error":"no","final":true`)).
		kept(keyed("retry", "a", `"was":10,"by":"ann","reason":"r"`)).kept(attempt).startOf("a", soFar)
	add("alias-retry", "A step that moved, its failure under the new key, and the retry.", b, 7, 4, "in_progress", `{"a":"running"}`, "final", `[]`, "troubles", `{"a":{`+soFar+`}}`, "died", `["a"]`)
	b = compacted().kept(kind("attempt", `"was":20,"n":4,"host":"example","pid":4711`, `"deadline":"`+last+`","within":60000000,"budget":{"eur":5}`)).
		kept(keyed("start", "s", `"was":21,"try":1,"until":"`+later+`","wait":7`)).kept(kind("waiting", `"was":22,"until":"`+later+`"`))
	add("waiting", "A run that sleeps.", b, 4, 4, "waiting", `{"s":"running"}`, "wake", later, "deadline", last, "within", "60000000", "budget", `{"eur":5}`,
		"troubles", `{"s":{"until":"`+later+`","wait":7}}`, "died", "absent")
}

// kept appends a record of a compacted journal.
func (b *book) kept(body string) *book { return b.add(body).acked() }
