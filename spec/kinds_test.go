package spec_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// example is section 12 of the page, with its very checksums.
const example = `{"crc":"3580db29","len":180,"prev":"00000000","seq":1,"dur":0,"kind":"run","at":"2026-12-01T09:30:00.123456Z","format":1,"id":"r1","uid":"0123456789abcdef0123456789abcdef","inc":1}
{"crc":"90525920","len":148,"prev":"3580db29","seq":2,"dur":1,"kind":"attempt","at":"2026-12-01T09:30:00.123456Z","n":1,"host":"example","pid":4711}
{"crc":"14ba53a2","len":134,"prev":"90525920","seq":3,"dur":1,"kind":"start","key":"greet","at":"2026-12-01T09:30:00.123456Z","try":1}
{"crc":"239cfa8a","len":159,"prev":"14ba53a2","seq":4,"dur":1,"kind":"step","key":"greet","at":"2026-12-01T09:30:00.123456Z","try":1,"us":1200,"value":"hello"}
{"crc":"87c397a2","len":135,"prev":"239cfa8a","seq":5,"dur":4,"kind":"complete","at":"2026-12-01T09:30:00.123456Z","value":{"ok":true}}
`

// kindVectors has every kind of record, and what it means.
func kindVectors(s *set) {
	s.add("example", "12", "The example of the page.", []byte(example),
		clean(5, 761, meaning{"complete", 1, `{"greet":"done"}`, `{"ok":true}`, ""}))

	b := run()
	s.add("kind-run", "5, 6", "A journal of one record is a run in progress that nobody opened yet.", b.b,
		clean(1, len(b.b), meaning{"in_progress", 0, `{}`, "", ""}))

	const input = `{"10":2.0,"9":"é","a":[1,null]}` // canonical: names sorted as strings
	digest := sha256.Sum256([]byte(input))
	in := fmt.Sprintf(`"in":"%x","input":%s`, digest[:16], input)
	b = newBook().add(kind("run", identity(1, "r1", uid, 1), `"store":"`+strings.Repeat("5a", 16)+`","run_kind":"report"`, in)).acked().attempt(1)
	s.add("kind-run-members", "5", "The first record with all optional members.", b.b, clean(2, len(b.b), openedMeans))

	b = opened().attempt(2).attempt(3)
	s.add("kind-attempt", "5, 6", "Attempts are counted by n of the newest attempt.", b.b,
		clean(4, len(b.b), meaning{"in_progress", 3, `{}`, "", ""}))

	b = opened().start("a")
	s.add("kind-start", "5, 6", "A step is running after its start.", b.b, clean(3, len(b.b), meaning{"in_progress", 1, `{"a":"running"}`, "", ""}))

	b = opened().add(keyed("start", "a", `"try":1`, in)).step("a", `{"n":1}`)
	s.add("kind-start-input", "5", "A start with its input, digest and text, and the step's end.", b.b, clean(4, len(b.b), fourMeans))

	b = four()
	s.add("kind-step", "5, 6", "A step is done after its value.", b.b, clean(4, len(b.b), fourMeans))

	b = opened().start("a").add(keyed("fail", "a", `"try":1,"us":7`, `"error":"no \"tool\"\u001b[31m","stack":"main.go:1\n\tmain.go:2"`))
	s.add("kind-fail", "5, 6", "A step is failed after its error, which may contain anything, escaped.", b.b,
		clean(4, len(b.b), meaning{"in_progress", 1, `{"a":"failed"}`, "", ""}))

	b = opened().add(keyed("map", "m", `"total":2`))
	b.add(keyed("start", "m/x", `"try":1,"map":"m"`)).step("m/x", "1").add(keyed("start", "m/y", `"try":1,"map":"m"`)).acked()
	s.add("kind-map", "5", "A Map of two items; the Map itself is no step.", b.b,
		clean(6, len(b.b), meaning{"in_progress", 1, `{"m/x":"done","m/y":"running"}`, "", ""}))

	b = four().add(keyed("epoch", "a", `"reason":"the prompt changed"`))
	s.add("kind-epoch", "5", "What an epoch names is history.", b.b, clean(5, len(b.b), openedMeans))

	b = opened().add(kind("state", `"sum":"`+sum(`{"n":1}`)+`"`, `"value":{"n":1}`))
	s.add("kind-state", "5", "A whole state.", b.b, clean(3, len(b.b), meaning{"in_progress", 1, `{}`, "", `{"n":1}`}))

	b = four().add(kind("state", `"sum":"`+sum(`1`)+`"`, `"value":1`)).complete("2").add(kind("clear"))
	s.add("kind-clear", "5, 6", "A clear makes steps, state and result history; identity and attempts remain.", b.b,
		clean(7, len(b.b), openedMeans))

	b = four().add(kind("complete", `"unasked":1`, `"value":{"sum":[1,2]}`))
	s.add("kind-complete", "5, 6", "A complete run has its result.", b.b,
		clean(5, len(b.b), meaning{"complete", 1, `{"a":"done"}`, `{"sum":[1,2]}`, ""}))

	b = four().add(kind("failed", `"error":"no money left"`))
	s.add("kind-failed", "5, 6", "The attempt ended with an error.", b.b, clean(5, len(b.b), meaning{"failed", 1, `{"a":"done"}`, "", ""}))

	b = four().add(kind("interrupted", `"error":"context canceled"`))
	s.add("kind-interrupted", "5, 6", "An attempt that ended without a verdict leaves the status as it was.", b.b, clean(5, len(b.b), fourMeans))

	b = four().add(kind("interrupted"))
	s.add("kind-interrupted-bare", "5, 6", "The same without an error.", b.b, clean(5, len(b.b), fourMeans))
}

// statusVectors has sequences of ends.
func statusVectors(s *set) {
	b := four().add(kind("failed", `"error":"x"`)).acked().attempt(2)
	s.add("status-attempt-after-failed", "6", "A new attempt makes a failed run in progress.", b.b,
		clean(6, len(b.b), meaning{"in_progress", 2, `{"a":"done"}`, "", ""}))

	b.complete("true")
	s.add("status-complete-after-failed", "6", "A run that failed once can be complete later.", b.b,
		clean(7, len(b.b), meaning{"complete", 2, `{"a":"done"}`, "true", ""}))

	b = four().complete("1").acked().attempt(2)
	s.add("status-attempt-after-complete", "6", "A complete run stays complete, whatever opens it.", b.b,
		clean(6, len(b.b), meaning{"complete", 2, `{"a":"done"}`, "1", ""}))

	b = four().complete("1").acked().add(kind("clear")).done("b", "2").complete("3")
	s.add("status-clear-and-again", "6", "After a clear the work starts over, with the same attempt.", b.b,
		clean(9, len(b.b), meaning{"complete", 1, `{"b":"done"}`, "3", ""}))

	b = four().add(kind("failed", `"error":"x"`)).acked().add(kind("clear"))
	s.add("status-clear-after-failed", "6", "A clear makes a failed run in progress.", b.b, clean(6, len(b.b), openedMeans))

	b = four().start("b").complete("1").step("b", "2")
	s.add("status-step-after-complete", "6", "A step that ends after the run's end does not change its status.", b.b,
		clean(7, len(b.b), meaning{"complete", 1, `{"a":"done","b":"done"}`, "1", ""}))
}

// unknownVectors has what a later version may add within the format.
func unknownVectors(s *set) {
	b := four().add(kind("weather", `"sun":true`)).start("b")
	s.add("unknown-kind", "5", "A record of an unknown kind is a record, and means nothing else.", b.b,
		clean(6, len(b.b), workingMeans))

	b = opened().start("a").add(keyed("step2", "a", `"value":1`))
	s.add("unknown-kind-with-key", "5, 6", "A record of an unknown kind does not change the step under its key.", b.b,
		clean(4, len(b.b), meaning{"in_progress", 1, `{"a":"running"}`, "", ""}))

	b = opened().add(`"kind":"pause","why":"it has no time and no key"`).start("a")
	s.add("unknown-kind-without-at", "5", "A record of an unknown kind may have no known member but kind.", b.b,
		clean(4, len(b.b), meaning{"in_progress", 1, `{"a":"running"}`, "", ""}))

	b = newBook().add(kind("run", `"zone":"x"`, identity(1, "r1", uid, 1), `"tags":["a",{"format":2}]`)).acked()
	b.add(kind("attempt", `"n":1,"host":"h","pid":1,"cpu":1.5e3`))
	b.add(keyed("start", "a", `"cost":{"eur":1.25},"try":1`)).add(keyed("step", "a", `"try":1,"us":0,"model":"m"`, `"value":1`)).acked()
	b.add(kind("complete", `"by":"me"`, `"value":2`))
	s.add("unknown-members", "5", "Unknown members, also in the first record, are skipped.", b.b,
		clean(5, len(b.b), meaning{"complete", 1, `{"a":"done"}`, "2", ""}))

	b = opened().add(keyed("start", "a", `"try":1,"on\u0063e":true`)).add(keyed("step", "a", `"try":1,"us":2,"\u0076alue":1`, `"value":2`))
	b.add(kind("complete", `"val\u0075e":1`))
	s.add("unknown-members-escaped", "2, 6", "Members whose names become known ones only when they are decoded are unknown.", b.b,
		clean(5, len(b.b), meaning{"complete", 1, `{"a":"done"}`, "", ""}).also("once", "[]"))

	b = opened().add(keyed("step", "a", `"x":{"kind":"fail","key":"b","value":{"vs":"}"}},"y":["\"value\":98",[{}],"]}"],"try":1,"us":2`, `"value":"v"`))
	b.add(kind("complete", `"x":{"value":1,"q":"\\\",\"value\":7"}`, `"value":{"value":3}`))
	s.add("unknown-members-nested", "5", "Names and brackets inside of an unknown member's value mean nothing.", b.b,
		clean(4, len(b.b), meaning{"complete", 1, `{"a":"done"}`, `{"value":3}`, ""}))

	b = opened().add(`"kind":"start","key":"a","try":1,"at":"` + at + `"`).add(`"kind":"step","key":"a","us":5,"at":"` + at + `","try":1,"value":1`)
	s.add("member-order", "2", "Behind kind and key the members stand in any order.", b.b, clean(4, len(b.b), fourMeans))
}
