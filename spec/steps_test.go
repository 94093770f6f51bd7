package spec_test

// stepVectors has steps over several records.
func stepVectors(s *set) {
	steps := func(name, comment string, b *book, records int, steps string) {
		s.add(name, "5, 6", comment, b.b, clean(records, len(b.b), meaning{"in_progress", 1, steps, "", ""}))
	}
	again := func(b *book, key string) *book { return b.add(keyed("start", key, `"try":2`)) }

	steps("step-retry", "The newest record under a key decides: failed, then done.",
		again(opened().start("a").fail("a"), "a").step("a", "1"), 6, `{"a":"done"}`)
	steps("step-running-after-fail", "The newest record under a key decides: failed, then running.",
		again(opened().start("a").fail("a"), "a"), 5, `{"a":"running"}`)
	steps("step-done-stays-done", "Without an epoch in between, a start leaves a done step done.",
		again(opened().done("a", "1"), "a"), 5, `{"a":"done"}`)
	steps("step-done-stays-done-after-fail", "Nor does an error undo a result.",
		again(opened().done("a", "1"), "a").fail("a"), 6, `{"a":"done"}`)
	steps("step-without-start", "A value without a start is a done step.", opened().step("a", "1"), 3, `{"a":"done"}`)
	steps("step-parallel", "Steps may overlap.",
		opened().start("a").start("b").start("c").step("b", "1").fail("a"), 7, `{"a":"failed","b":"done","c":"running"}`)
	steps("step-nested", "A step within a step has a key of its own, whatever the outer one does.",
		opened().start("a").start("a/b").step("a/b", "1").start("a/b/c").fail("a"), 7, `{"a":"failed","a/b":"done","a/b/c":"running"}`)
	steps("step-two-values", "A second value under a key changes nothing in what the step is.",
		opened().done("a", "1").step("a", "2"), 5, `{"a":"done"}`)

	const odd = `\"\\\/\n\u0000\u0085\u2028 .~%{}`
	steps("step-key-escapes", "A key is what its JSON string means.",
		opened().start(odd), 3, `{"\"\\/\n\u0000\u0085\u2028 .~%{}":"running"}`)
	steps("step-key-spelling", "Two spellings of a key are the same key.",
		opened().start(`caf\u00e9\/x`).step(`café/x`, "1"), 4, `{"café/x":"done"}`)
	steps("step-key-exact", "Keys that look alike are different: no folding of case or of composed characters.",
		opened().start("é").step("e\u0301", "1").fail("É"), 5, `{"é":"running","e\u0301":"done","É":"failed"}`)

	epoch := func(b *book, key string) *book { return b.add(keyed("epoch", key, `"reason":"r"`)) }
	family := opened()
	for _, key := range []string{"a", "a/b", "a/b/c", "ab", "a b", "b/a", "A"} {
		family.start(key)
	}
	steps("epoch-prefix", "An epoch reaches its key and the keys that begin with it and a slash, and no others.",
		epoch(family, "a"), 10, `{"ab":"running","a b":"running","b/a":"running","A":"running"}`)
	steps("epoch-nested", "An epoch of an inner key leaves the outer one.",
		epoch(opened().start("a").done("a/b", "1"), "a/b"), 6, `{"a":"running"}`)
	steps("epoch-and-again", "What comes after an epoch counts.",
		epoch(opened().done("a", "1").done("a/b", "1"), "a").start("a"), 8, `{"a":"running"}`)
	steps("epoch-of-nothing", "An epoch of a key without records is fine.", epoch(four(), "x"), 5, `{"a":"done"}`)
	steps("epoch-key-spelling", "An epoch's key is what its JSON string means too.",
		epoch(four().done("ä/b", "1"), `\u00e4`), 7, `{"a":"done"}`)
}

// compactVectors has journals that replaced others.
func compactVectors(s *set) {
	// old was compacted when it had six records; see section 3 and 6.
	old := six()
	compacted := func(inc string) *book {
		b := newBook()
		b.seq, b.prev, b.dur = old.seq, old.prev, old.seq
		b.add(kind("run", `"format":1,"id":"r1","uid":"`+uid+`","inc":`+inc)).acked()
		b.add(kind("attempt", `"was":2,"n":4,"host":"example","pid":4711`)).acked()
		b.add(keyed("step", "a", `"was":4,"try":1,"us":1200`, `"value":"one"`)).acked()
		b.add(keyed("start", "b", `"was":5,"try":1`)).acked()
		return b.add(keyed("step", "b", `"was":6,"try":1,"us":1200`, `"value":"two"`)).acked()
	}
	means := meaning{"in_progress", 4, `{"a":"done","b":"done"}`, "", ""}

	b := compacted("2")
	s.add("compact", "3, 6", "A compacted journal goes on with the numbers and the checksum of the file that it replaces.", b.b,
		clean(5, len(b.b), means))

	b = compacted("17").attempt(5).complete("1")
	s.add("compact-and-work", "3, 6", "A journal compacted many times, and the work after that.", b.b,
		clean(7, len(b.b), meaning{"complete", 5, `{"a":"done","b":"done"}`, "1", ""}))

	b = compacted("2")
	x := len(b.b)
	f := file(b.b, b.fork().start("c").b[x:x+60])
	s.add("compact-torn", "9", "An interrupted write behind a compacted journal.", f, torn(5, x, len(f), means))

	f = with(b.b, b.begins[9]+40, b.begins[9]+41, '#')
	s.add("compact-damaged", "9", "A compacted journal says of every record before that it was durable.", f,
		damaged(2, b.ends[8], 9))

	f = file(b.b, old.fork().start("c").record(7))
	s.add("compact-record-of-the-old-file", "3, 9", "A record of the file that was replaced does not continue the new one.", f,
		damaged(5, x, 12))

	f = file(old.b, b.b[b.begins[8]:])
	s.add("compact-joined-to-the-old-file", "3, 9", "Records of the new file do not continue the old one without its first record.", f,
		damaged(6, len(old.b), 7))

	f = with(b.b, 100, 101, '#')
	s.add("compact-first-record", "9 rule 1", "A compacted journal without a valid first record.", f, headless())
}
