package spec_test

import "strings"

// almostTornVectors has last records that are damaged in ways that resemble an
// interrupted write, and are none: power cuts lose whole sectors.
func almostTornVectors(s *set) {
	big := bigStep().b
	ahead := filled(big, 4096)
	add := func(name, comment string, f []byte) {
		s.add("not-torn-"+name, "9 rule 4", comment, f, damaged(5, 900, 6))
	}
	add("newline-within", "A LF within the line, not at the beginning of a sector.", with(ahead, 1700, 1701, '\n'))
	add("newline-at-sector", "A LF at the beginning of a sector that is not all LF.", with(ahead, 1536, 1537, '\n'))
	add("newlines-short", "A sector of LF but for its last byte.", with(ahead, 1536, 2047, '\n'))
	add("one-newline", "The last byte of a sector is LF: one wrong byte can do that.", with(ahead, 2047, 2048, '\n'))
	add("one-nul", "The last byte of a sector is NUL.", with(ahead, 2047, 2048, 0))
	add("mixed", "LF and then NUL up to the end of a sector: fill is one or the other.", with(with(ahead, 2000, 2020, '\n'), 2020, 2048, 0))
	add("garbage-before-fill", "Fill behind what is not the beginning of a record.", file(big[:900], "oops", strings.Repeat("\n", 1000)))
	add("false-beginning", "Fill behind what begins like a record, but not as its five members do.", file(big[:900], `{"crc":"ABCDEF01","len":1`, strings.Repeat("\n", 1000)))
	const head = `{"crc":"00000000","len":900,"prev":"00000000","seq":6,"dur":4,"kind":"step"`
	broken := func(name, comment, text string) {
		add(name, comment, file(big[:900], text, strings.Repeat("\n", 1000)))
	}
	broken("no-json", "Fill behind a head and what is no JSON: a line that broke off is the beginning of an object.", head+`,oops`)
	broken("no-json-string", "Nor is this, with a raw TAB in a string, the beginning of JSON.", head+",\"at\":\"a\tb")
	broken("no-json-bracket", "Nor this, with an array that ends as an object does.", head+`,"value":[1,2},{"a`)
	broken("no-json-number", "Nor this, with a number that has a leading zero.", head+`,"value":-01`)
	broken("seq-zero", "A record has no number 0, and no digits make it another one.", `{"crc":"00000000","len":900,"prev":"00000000","seq":0`)
	broken("leading-zero", "No digits make this a right number.", `{"crc":"00000000","len":09`)
	broken("16-digits", "Nor this.", `{"crc":"00000000","len":1000000000000000`)
	broken("dur-is-seq", "More digits make this dur only greater.", `{"crc":"00000000","len":900,"prev":"00000000","seq":6,"dur":6`)
	add("newline-then-nul", "LF, and NUL from there to the end of the sector: no beginning of a line was written, not a byte of it.",
		file(with(with(ahead, 900, 901, '\n'), 901, 1024, 0)[:1024], "x\n"))
	add("len", "A wrong length, beyond the fill behind the record: the object is whole.", filled(put(big, `"len":1799`, `"len":2799`), 4096))
	add("brace-is-newline", "The closing brace is LF: one wrong byte can do that, and everything else is there.", with(big, 2698, 2699, '\n'))
	add("brace-is-newline-fill", "The same with fill behind.", with(ahead, 2698, 2699, '\n'))
	add("newlines-begin", "The line's beginning is LF, but not up to a sector.", with(ahead, 900, 1000, '\n'))
	add("nul-begin", "The line's beginning is NUL, but not up to the end of the sector.", with(ahead, 900, 1023, 0))
	add("nul-newline", "NUL up to the line's LF, which stands within that sector.", with(ahead, 2560, 2699, 0))
	add("sector-of-text", "A sector holds other bytes than were written.", with(ahead, 1536, 2048, 'x'))

	b := working(800).stepTo("b", 1026)
	f := with(b.b, 1024, 1025, 0)
	s.add("not-torn-nul-brace", "9 rule 4", "The closing brace, first byte of a sector that has more than it, is NUL.", f, damaged(5, 800, 6))

	f = with(working(1024).stepTo("b", 1500).b, 1100, 1101, 'O')
	s.add("not-torn-at-sector", "9 rule 4", "A wrong byte in a record that begins at a sector, directly behind the record before.", f, damaged(5, 1024, 6))

	f = with(file(working(800).b, "\n", working(801).stepTo("b", 1026).record(6), strings.Repeat("\n", 1000)), 1000, 1001, 'O')
	s.add("not-torn-behind-newline", "9 rule 4", "A wrong byte in a record with an empty line in front and fill behind.", f, damaged(5, 800, 6))
}

// claimVectors has bytes that would be torn, were there not a record that says that
// more was durable (section 9, rule 2); and what resembles such a record. The last
// good record is number 5.
func claimVectors(s *set) {
	const rule = "9 rule 2"
	add := func(name, comment string, f []byte) { s.add("claim-"+name, rule, comment, f, damaged(5, 900, 6)) }
	lost := bigStep()
	witness := func(dur int) []byte { // record 7, of a writer that knew this to be durable
		b := lost.fork()
		b.dur = dur
		return b.start("c").record(7)
	}
	claim, big := witness(6), lost.b
	hole := with(big, 1536, 2048, 0)

	add("next-line", "A sector of the line is NUL, and the next record says that the line was durable.", file(hole, claim))
	add("later-line", "The record that says so is not the next one.", func() []byte {
		b := lost.fork().start("c").start("d")
		b.dur = 6
		return with(b.start("e").b, 1536, 2048, 0)
	}())
	add("behind-newlines", "In a file filled ahead, the line's last sector is LF.", file(with(big, 2560, 2700, '\n'), strings.Repeat("\n", 1000), claim))
	add("whole-record-lost", "The whole record is LF, and the next one says that it was durable.", file(with(big, 900, 2700, '\n'), claim))
	add("behind-nul", "Everything is NUL up to the record that says so.", file(with(big, 900, 2700, 0), claim))
	add("within-a-line", "The record that says so does not begin a line.", file(hole[:2000], claim))
	add("behind-its-own-beginning", "It begins behind a piece of its own beginning.", file(hole[:2000], `{"crc":"`, claim))
	add("behind-a-false-one", "It begins within what looks like a record and is none.", file(hole[:2000], claim[:50], claim))
	add("without-newline", "It ends the file, without a LF.", file(hole, claim[:len(claim)-1]))
	add("at-x", "It stands where the lost record belongs and ends the file without a LF.", file(big[:900], claim[:len(claim)-1]))
	add("far-behind", "It stands more than 64 KiB behind.", file(filled(hole, 69_000), claim))
	add("before-text", "Other text follows it within its line.", file(hole[:2000], claim[:len(claim)-1], " and so on"))
	add("of-another-chain", "It continues nothing that is there; what it says counts.", file(hole, line("00c0ffee", 99, 98, keyed("start", "z", `"try":1`)), "\n"))

	none := func(name, comment string, f []byte) {
		s.add("claim-not-"+name, rule+" and 3", comment, f, torn(5, 900, len(f), workingMeans))
	}
	none("more", "A record behind says that record 5, the last good one, was durable, and no more.", file(hole, witness(5)))
	none("checksum", "A record that would say so has a wrong checksum.", file(hole, put(claim, `"key":"c"`, `"key":"d"`)))
	none("whole", "A record that would say so is cut short.", file(hole, claim[:len(claim)-2]))
	none("in-a-string", "A record that would say so is escaped, as text in a string.",
		file(big[:900], `{"crc":"00000000","value":"`, strings.ReplaceAll(string(claim[:len(claim)-1]), `"`, `\"`)))
	object := string(claim[:len(claim)-1])
	none("in-a-value", "A record that would say so is a value: the lines of a journal can be data too.", file(big[:900], `{"crc":"00000000","value":`, object))
	none("in-an-array", "A record that would say so is an element of an array.", file(big[:900], `{"crc":"00000000","value":[`, object, `,`, object, `,1`))
	none("before-a-bracket", "A record that would say so ends a larger value.", file(hole[:2000], object, `]}`))
	none("with-newline", "A record that would say so holds a LF, with length and checksum that are right.",
		file(hole, line(lost.prev, 7, 6, keyed("start", "c", "\"map\":\"a\nb\"")), "\n"))
	none("dur-beyond", "A dur that is not below seq makes a line no record.", file(hole, line(lost.prev, 7, 7, keyed("start", "c", `"try":1`)), "\n"))
}
