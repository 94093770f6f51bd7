package spec_test

import "fmt"

// inputs are digests of two questions.
const (
	oneInput   = "00112233445566778899aabbccddeeff"
	otherInput = "ffeeddccbbaa99887766554433221100"
)

// await asks something.
func (b *book) await(key string, members ...string) *book {
	all := append([]string{`"in":"` + oneInput + `"`, `"shape":{"type":"boolean"}`}, members...)
	return b.add(keyed("await", key, append(all, `"value":{"ask":"Ship it?"}`)...))
}

// answer and refuse are what somebody said to that.
func (b *book) answer(key, value string) *book {
	return b.add(keyed("answer", key, `"by":"ann","reason":"looks good","mail":"8899aabbccddeeff","about":"`+oneInput+`"`, `"value":`+value))
}

func (b *book) refuse(key string) *book {
	return b.add(keyed("refuse", key, `"by":"bob","reason":"","mail":"0011223344556677","about":"`+oneInput+`","error":"not a boolean"`, `"value":"yes"`))
}

// questionVectors has questions and their answers, and inputs that were let pass.
func questionVectors(s *set) {
	all := added(s, "await", "5, 6")
	add := func(name, comment string, b *book, records int, steps, troubles, died string) {
		all(name, comment, b, records, "in_progress", steps, "troubles", troubles, "final", `[]`, "died", died)
	}
	const until = `"until":"` + last + `"`
	const waits, done = `{"q":"waiting"}`, `{"q":"done"}`
	asked := func() *book { return opened().await("q") } // 3 records
	add("question", "A question waits; nobody who waits for an answer is under way.", asked(), 3, waits, `{}`, `[]`)
	add("until", "A question that can be answered until a time.", opened().await("q", until), 3, waits, `{"q":{`+until+`}}`, `[]`)
	add("bare", "A question without a shape, spelled with white space, is one.", opened().add(keyed("await", "q", `"in":"`+oneInput+`"`, `"vs":"{ \"ask\": 1 }"`)), 3, waits, `{}`, `[]`)
	add("inside", "The step around a question is under way.", opened().start("a").await("a/q"), 4, `{"a":"running","a/q":"waiting"}`, `{}`, `["a"]`)
	add("beside", "A question beside steps.", opened().await("q").start("b").start("q/c"), 5, `{"q":"waiting","b":"running","q/c":"running"}`, `{}`, `["b","q/c"]`)
	add("answer", "An answer makes it done.", opened().await("q", until).answer("q", "true"), 4, done, `{}`, `[]`)
	add("answer-default", "A by that is empty says that this is the default.", opened().await("q", until).add(keyed("answer", "q", `"by":"","reason":"nobody answered within 1h0m0s"`, `"value":false`)), 4, done, `{}`, `[]`)
	add("answer-unasked", "An answer needs no question before it.", opened().answer("q", "true"), 3, done, `{}`, `[]`)
	add("answer-twice", "A second answer changes nothing.", asked().answer("q", "true").answer("q", "false").await("q", until), 6, done, `{}`, `[]`)
	add("refuse", "What was refused leaves the question open.", opened().await("q", until).refuse("q"), 4, waits, `{"q":{`+until+`}}`, `[]`)
	add("refuse-and-answer", "Then somebody may answer it.", asked().refuse("q").answer("q", "true"), 5, done, `{}`, `[]`)
	add("refuse-unasked", "A refusal makes no step.", opened().refuse("q"), 3, `{}`, `{}`, `[]`)
	add("anew", "Asked anew, with another question: the newest one says all of it.",
		opened().await("q", until).add(keyed("await", "q", `"in":"`+otherInput+`"`, `"value":"Or not?"`)), 4, waits, `{}`, `[]`)
	add("step-done", "A question under the key of a step that is done changes nothing of it.", four().await("a", until), 5, `{"a":"done"}`, `{}`, `[]`)
	add("found-done", "Somebody found out what the answer would have been.", opened().await("q", until).add(keyed("step", "q", `"try":1,"us":0,"by":"ann","reason":"seen"`, `"value":1`)), 4, done, `{}`, `[]`)
	add("start", "A step that begins under the key of a question is running.", opened().await("q", until).start("q"), 4, `{"q":"running"}`, `{}`, `["q"]`)
	add("of-a-series", "A question ends the series of a step of its key,", failing().await("a", until), 5, `{"a":"waiting"}`, `{"a":{`+until+`}}`, `[]`)
	add("of-a-sleep", "and its sleep,", opened().startOf("a", `"until":"`+later+`","wait":7`).await("a"), 4, `{"a":"waiting"}`, `{}`, `[]`)
	add("deaths", "and its deaths: they are no more in a row.", opened().start("a").crash("a", 1, 0).attempt(1).await("a").start("a"), 7, `{"a":"running"}`, `{}`, `["a"]`)
	add("answer-deaths", "So does an answer.", opened().crash("a", 2, 0).answer("a", "1"), 4, `{"a":"done"}`, `{}`, `[]`)
	add("retry", "A retry does nothing to a question that waits.", opened().await("q", until).retry("q"), 4, waits, `{"q":{`+until+`}}`, `[]`)
	add("epoch", "An epoch makes a question history.", opened().await("s/q", until).answer("s/r", "1").epoch("s", 1).await("s/r"), 6, `{"s/r":"waiting"}`, `{}`, `[]`)
	add("alias", "A question that moved can be answered under its new key.", opened().await("q", until).await("x", until).alias("p", "q").alias("y", "x").answer("p", "true"), 7,
		`{"p":"done","y":"waiting"}`, `{"y":{`+until+`}}`, `[]`)
	add("clear", "A clear drops questions.", opened().await("q", until).clear().answer("r", "1"), 5, `{"r":"done"}`, `{}`, `[]`)
	add("attempt", "A question waits over attempts.", opened().await("q", until).interrupted().attempt(1), 5, waits, `{"q":{`+until+`}}`, `[]`)

	all("expired", "A final failure says that nobody answered in time.", opened().await("q", until).failOf("q", `"final":true`), 4, "in_progress", `{"q":"failed"}`, "troubles", `{}`, "final", `["q"]`)
	all("expired-and-answer", "An answer behind it, which no writer may record, is one.", opened().await("q", until).failOf("q", `"final":true`).answer("q", "1"), 5, "in_progress", done, "troubles", `{}`, "final", `[]`)
	all("expired-retry", "A retry lets it be asked again.", opened().await("q", until).failOf("q", `"final":true`).waiting("").retry("q").attempt(1).await("q"), 8, "in_progress", waits, "troubles", `{}`, "final", `[]`)
	all("waiting", "A run that waits for an answer.", opened().await("q", until).waiting(last), 4, "waiting", waits, "wake", last, "died", "absent")
	all("waiting-answer", "The answer leaves it waiting: the next attempt goes on.", opened().await("q").waiting("").answer("q", "true"), 5, "waiting", done, "wake", "absent", "died", "absent")
	all("once", "A question counts as the newest start of its key: it has neither once nor a Map.",
		opened().add(keyed("map", "m", `"total":1,"done":0`)).add(keyed("start", "m/0", `"map":"m","try":1,"once":true`)).await("m/0").answer("m/0", "1"), 6, "in_progress", `{"m/0":"done"}`, "once", `[]`, "maps", `{"m":[]}`)
	all("answer-once", "An answer without one leaves both.",
		opened().add(keyed("start", "m/0", `"map":"m","try":1,"once":true`)).answer("m/0", "1"), 4, "in_progress", `{"m/0":"done"}`, "once", `["m/0"]`, "maps", `{"m":["m/0"]}`)
	all("meter", "What is used behind it is what the newest start used.", opened().start("q").meter("q", "eur", "1").await("q").meter("q", "eur", "2"), 6, "in_progress", waits,
		"used", `{"eur":3}`, "used_by", `{"q":{"eur":3}}`, "used_since", `{"q":{"eur":2}}`)
	all("note", "A question leaves the note of its key.", opened().note("q", "1").await("q").answer("q", "2"), 5, "in_progress", done, "notes", `{"q":"1"}`)
	all("idempotency", "A question has the idempotency key of its key.", opened().epoch("q", 2).await("q").alias("p", "q"), 5, "in_progress", `{"p":"waiting"}`, "idempotency", `{"p":"`+idem("q\x002@1")+`"}`)
	all("alone", "An epoch of a question alone leaves what is inside its key.", opened().answer("q", "1").answer("q/r", "2").add(keyed("epoch", "q", `"n":1,"reason":"r","alone":true`)), 5, "in_progress", `{"q/r":"done"}`, "troubles", `{}`)

	all = added(s, "ignored", "5")
	all("run", "That an input of the run was let pass changes nothing.", opened().add(kind("ignored", `"in":"`+oneInput+`"`)), 3, "in_progress", `{}`, "troubles", `{}`)
	all("step", "Nor does that of a step change it, whether or not it is there.", failing().add(keyed("ignored", "a", `"in":"`+oneInput+`"`)).add(keyed("ignored", "b", `"in":"`+oneInput+`"`)).add(keyed("ignored", "m", `"items":3`)), 7,
		"in_progress", `{"a":"failed"}`, "troubles", `{"a":{`+series+`}}`, "maps", `{}`)
	all("complete", "Nor one behind the end.", four().complete("1").add(keyed("ignored", "a", `"in":"`+oneInput+`"`)), 6, "complete", `{"a":"done"}`, "died", "absent")

	// An export of a run in whose inbox something lay that was in force.
	behind := func(tail func(*book) *book) *book {
		b := tagged(uid)
		b.add(kind("run", identity(1, "r1", uid, 1))).acked().attempt(1).await("q")
		b.acked()
		return tail(b).exported()
	}
	b := behind(func(b *book) *book { return b.answer("q", "true") })
	s.add("export-answer", "10", "An export with an answer that the owner has not written yet.", b.b, clean(5, len(b.b), meaning{"in_progress", 1, done, "", ""}).also("died", `[]`))
	b = behind(func(b *book) *book {
		return b.answer("q", "true").acked().add(kind("cancelled", `"by":"ann","reason":"ordered twice","mail":"m1"`))
	})
	s.add("export-cancelled", "10", "One with an answer and a cancellation.", b.b,
		clean(6, len(b.b), meaning{"cancelled", 1, done, "", ""}).also("cancel", `{"by":"ann","reason":"ordered twice","mail":"m1"}`))
	for i, n := range []int{0, 1} { // of two records in force both must be there
		broken := with(b.b, b.begins[4+n]+100, b.begins[4+n]+101, '#')
		s.add(fmt.Sprintf("export-in-force-damaged-%d", i+1), "10, 9 rule 2", "A wrong byte in a record that an export holds behind the run's own.", broken, damaged(3+n, b.begins[4+n], 4+n))
	}
	b = b.fork().reopen().attempt(2)
	s.add("export-cancelled-gone-on", "10", "And a program that goes on with it.", b.b, clean(8, len(b.b), meaning{"in_progress", 2, done, "", ""}).also("cancel", `{}`))
}
