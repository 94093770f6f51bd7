package spec_test

import "strings"

// flip changes one bit of the byte that stands off bytes into record seq.
func (b *book) flip(seq, off int) []byte {
	at := b.begins[seq] + off
	return with(b.b, at, at+1, b.b[at]^1)
}

// within is where text stands in record seq.
func (b *book) within(seq int, text string) int { return strings.Index(string(b.record(seq)), text) }

// flipVectors has single wrong bytes, in record 4 of 7, of which a later record says
// that it was durable, and in the last record of 6, of which none does.
func flipVectors(s *set) {
	const proof, alone = "9 rule 2", "9 rule 4"
	both := func(name, what, text string, off int) {
		b := seven()
		s.add("flip-"+name, proof, "A flipped bit in "+what+"; a record behind says that it was durable.", b.flip(4, b.within(4, text)+off),
			damaged(3, b.ends[3], 4))
		b = six()
		s.add("flip-last-"+name, alone, "A flipped bit in "+what+" of the last record: it has an end and no sector of it is missing.", b.flip(6, b.within(6, text)+off),
			damaged(5, b.ends[5], 6))
	}
	both("brace", "the first byte", `{`, 0)
	both("crc", "the checksum", `"crc":"`, 8)
	both("len", "the length", `"len":`, 8)
	both("prev", "the checksum of the record before", `"prev":"`, 10)
	both("seq", "the number", `"seq":`, 6)
	both("dur", "dur", `"dur":`, 6)
	both("kind", "the kind", `"step"`, 1)
	both("key", "the key", `"key":"`, 7)
	both("value", "the value", `"value":"`, 9)
	both("end", "the closing brace", "}\n", 0)

	b := seven()
	s.add("flip-newline", proof, "A LF is another byte: the record counts, and what follows it cannot be trusted.", with(b.b, b.ends[4]-1, b.ends[4], 'J'),
		damaged(4, b.ends[4]-1, 5))
	b = six()
	s.add("flip-newline-before-last", alone, "The LF before the last record is another byte.", with(b.b, b.ends[5]-1, b.ends[5], 'J'),
		damaged(5, b.ends[5]-1, 6))
	s.add("flip-to-newline", alone, "A byte of the last record is a LF.", with(b.b, b.begins[6]+100, b.begins[6]+101, '\n'),
		damaged(5, b.ends[5], 6))
	s.add("flip-len-huge", alone, "A length far beyond the file: do not allocate that much.", file(b.b[:b.ends[5]], hugeLen(b.record(6))),
		damaged(5, b.ends[5], 6))
	s.add("flip-in-attempt", proof, "A flipped bit in an early record.", seven().flip(2, 90), damaged(1, run().ends[1], 2))
}

// hugeLen gives a line the greatest length that there is.
func hugeLen(line []byte) []byte {
	return file(line[:len(`{"crc":"00000000","len":`)], "999999999999999", line[len(`{"crc":"00000000","len":000`):])
}

// lineVectors has whole lines that are not where they belong.
func lineVectors(s *set) {
	const order = "3, 9"
	b := seven()
	r := b.record
	add := func(name, comment string, f []byte, records, offset, seq int) {
		s.add("line-"+name, order, comment, f, damaged(records, offset, seq))
	}
	add("dropped", "Record 4 is missing.", file(b.b[:b.ends[3]], b.b[b.ends[4]:]), 3, b.ends[3], 4)
	add("dropped-before-last", "Record 5 is missing, and record 6 behind it, the last one, claims nothing.", file(b.b[:b.ends[4]], r(6)), 4, b.ends[4], 5)
	add("doubled", "Record 4 is there twice.", file(b.b[:b.ends[4]], r(4), b.b[b.ends[4]:]), 4, b.ends[4], 5)
	add("doubled-last", "The last record is there twice.", file(b.b, r(7)), 7, b.ends[7], 8)
	add("swapped", "Records 4 and 5 are swapped.", file(b.b[:b.ends[3]], r(5), r(4), b.b[b.ends[5]:]), 3, b.ends[3], 4)
	add("swapped-last", "Records 5 and 6, the last ones, are swapped.", file(b.b[:b.ends[4]], r(6), r(5)), 4, b.ends[4], 5)
	add("journal-appended", "The journal is there twice.", file(b.b, b.b), 7, b.ends[7], 8)

	other := newBook().add(kind("run", identity(1, "r1", strings.Repeat("f", 32), 1))).acked().attempt(1).done("a", `"one"`).done("b", `"two"`).start("c")
	mustBe(other.ends[7], b.ends[7])
	add("from-another-run", "Record 5 is that of another run that did the same.", file(b.b[:b.ends[4]], other.record(5), b.b[b.ends[5]:]), 4, b.ends[4], 5)
	add("last-from-another-run", "The last record is that of another run that did the same.", file(b.b[:b.ends[6]], other.record(7)), 6, b.ends[6], 7)
	add("rest-of-another-run", "The second half of another run that did the same.", file(b.b[:b.ends[4]], other.b[b.ends[4]:]), 4, b.ends[4], 5)

	forged := four()
	forged.seq, forged.prev, forged.dur, forged.b = 3, b.prevOf(4), 1, forged.b[:forged.ends[3]]
	forged.step("a", `"ONE"`)
	mustBe(forged.ends[4], b.ends[4])
	add("rewritten", "Record 4 has another value and a checksum that fits: record 5 does not continue it.", file(forged.b, b.b[b.ends[4]:]), 4, b.ends[4], 5)

	f := line(b.prev, 9, 6, keyed("step", "c", `"try":1,"us":1`, `"value":3`))
	add("number-skipped", "The chain of checksums is right and a number is left out.", file(b.b, f, "\n"), 7, b.ends[7], 8)
	f = line(b.prev, 7, 6, keyed("step", "c", `"try":1,"us":1`, `"value":3`))
	add("number-repeated", "The chain of checksums is right and a number is there twice.", file(b.b, f, "\n"), 7, b.ends[7], 8)
	f = line(b.prev, 8, 6, keyed("step", "c", `"try":1,"us":1`, "\"value\":\"a\nb\""))
	add("holds-newline", "Length and checksum are right, and it holds a LF: so it is no line.", file(b.b, f, "\n"), 7, b.ends[7], 8)
	f = line("00000000", 8, 6, keyed("step", "c", `"try":1,"us":1`, `"value":3`))
	add("prev-zero", "Only the first record has no record before.", file(b.b, f, "\n"), 7, b.ends[7], 8)
}

// prevOf is the prev of record seq.
func (b *book) prevOf(seq int) string {
	at := b.within(seq, `"prev":"`) + len(`"prev":"`)
	return string(b.record(seq)[at : at+8])
}

// editVectors has what programs and people do to text files.
func editVectors(s *set) {
	b := seven()
	x := b.ends[4]
	add := func(name, section, comment string, f []byte, records, offset, seq int) {
		s.add("edit-"+name, section, comment, f, damaged(records, offset, seq))
	}
	crlf := []byte(strings.ReplaceAll(string(b.b), "\n", "\r\n"))
	add("crlf", "2, 9", "Every LF became CR LF.", crlf, 1, b.ends[1]-1, 2)
	add("crlf-last", "2, 9", "CR LF behind the last record.", file(x1(b), "\r\n"), 7, b.ends[7]-1, 8)
	add("merge-markers", "9", "A merge conflict within the journal.",
		file(b.b[:x], "<<<<<<< ours\n", b.b[x:], "=======\n", four().start("z").record(5), ">>>>>>> theirs\n"), 4, x, 5)
	add("merge-markers-at-end", "9 rule 4", "A marker behind the last record.", file(b.b, ">>>>>>> theirs\n"), 7, b.ends[7], 8)
	add("note-at-end", "9 rule 4", "A line of text behind the last record.", file(b.b, "# checked, looks good\n"), 7, b.ends[7], 8)
	add("json-at-end", "9 rule 4", "A line of JSON that is no record.", file(b.b, "{\"kind\":\"complete\",\"value\":1}\n"), 7, b.ends[7], 8)
	add("blank-at-end", "9 rule 4", "A line that holds nothing but blanks is not empty.", file(b.b, "  \n"), 7, b.ends[7], 8)
	add("bom-within", "9", "A byte order mark in front of record 5, as from joining two files.", file(b.b[:x], "\xef\xbb\xbf", b.b[x:]), 4, x, 5)
	add("indented", "9", "A blank in front of record 5.", file(b.b[:x], " ", b.b[x:]), 4, x, 5)
	add("reformatted-line", "2, 9", "Record 5 with white space between its tokens.",
		file(b.b[:x], strings.ReplaceAll(string(b.record(5)), `,"`, `, "`), b.b[b.ends[5]:]), 4, x, 5)
	add("line-joined", "2", "The LF between records 4 and 5 is missing.", file(b.b[:x-1], b.b[x:]), 4, x-1, 5)
	add("line-joined-last", "2, 9 rule 4", "The LF before the last record, which claims nothing, is missing.", file(six().b[:b.ends[5]-1], b.record(6)), 5, b.ends[5]-1, 6)
	add("cut-within", "9", "Some bytes within record 4 are missing.", file(b.b[:b.ends[3]+50], b.b[b.ends[3]+60:]), 3, b.ends[3], 4)
	add("hole", "9", "Everything from the middle of record 3 to the middle of record 5 is missing.", file(b.b[:b.ends[2]+50], b.b[b.ends[4]+50:]), 2, b.ends[2], 3)
}
