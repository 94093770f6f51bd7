package spec_test

import "strings"

// fillVectors has LFs that are no record's, and records at the edges of sectors.
func fillVectors(s *set) {
	b := four()
	x := len(b.b)
	add := func(name, section, comment string, f []byte) {
		s.add(name, section, comment, f, clean(4, x, fourMeans))
	}
	add("fill-one", "9", "One LF behind the last record is fill.", file(b.b, "\n"))
	add("fill-sectors", "7 rule 5, 9", "A file that is filled ahead.", filled(b.b, 4096))
	add("fill-odd", "9", "Fill of any length, beyond 64 KiB.", filled(b.b, 66_001))
	f := file(b.record(1), "\n", b.record(2), "\n\n", b.record(3), b.record(4))
	s.add("fill-between", "2", "Empty lines between records are skipped.", f, clean(4, len(f), fourMeans))
	f = file(b.record(1), strings.Repeat("\n", 2*sector), b.record(2), b.record(3), b.record(4))
	s.add("fill-between-sectors", "2, 9", "Whole sectors of LF between records that continue each other are only empty lines.", f, clean(4, len(f), fourMeans))

	f = x1(b)
	s.add("no-newline", "9", "The last record is whole and the file ends without its LF: the record counts.", f,
		clean(4, len(f), fourMeans).noNewline())
	f = file(four().complete(`"value\n"`).b)
	f = f[:len(f)-1]
	s.add("no-newline-complete", "9", "The same for the record with the result.", f,
		clean(5, len(f), meaning{"complete", 1, `{"a":"done"}`, `"value\n"`, ""}).noNewline())

	// Cuts between records: section 9, last paragraph.
	b = seven()
	f = b.b[:b.ends[4]]
	s.add("cut-between-records", "9", "A cut exactly between two records cannot be seen, even if the records behind it were durable.", f,
		clean(4, len(f), fourMeans))

	done := meaning{"in_progress", 1, `{"a":"done","b":"done"}`, "", ""}
	b = working(800).add(keyed("step", "b", `"try":1,"us":1200`, `"value":"two"`, `"pad":""`))
	s.add("padding-member", "7 rule 6", "A record that is made longer by a member behind its value.", b.b, clean(6, len(b.b), done))
	f = file(working(800).b, "\n", b.record(6))
	s.add("padding-newline", "2", "A record with an empty line in front of it.", f, clean(6, len(f), done))
	b = working(1024).stepTo("b", 1500)
	s.add("sector-begins-with-record", "7 rule 6", "A record without padding may begin at the beginning of a sector.", b.b, clean(6, 1500, done))
	b = working(800).stepToAnywhere("b", 1025)
	s.add("sector-begins-with-newline", "9", "A record whose LF is at the beginning of a sector breaks a writer's rule, and is still a record.", b.b,
		clean(6, 1025, done))

	long := func(n int) string { return kind("run", identity(1, strings.Repeat("r", n), uid, 1)) }
	n := sector - len(line("00000000", 1, 0, long(0)))
	b = newBook().addAnywhere(long(n)).acked()
	mustBe(b.ends[1], 513)
	b.attempt(1)
	s.add("first-record-ends-at-sector", "7 rule 6", "The first record's LF may be anywhere.", b.b, clean(2, len(b.b), openedMeans))
}

// x1 is the journal without its last byte.
func x1(b *book) []byte { return b.b[:len(b.b)-1] }
