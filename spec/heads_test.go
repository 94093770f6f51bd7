package spec_test

import (
	"fmt"
	"strings"
)

// firstVectors has first records that are none, and formats that are newer.
func firstVectors(s *set) {
	head := func(name, section, comment string, f []byte) { s.add("first-"+name, section, comment, f, headless()) }
	whole := seven().b

	head("empty-file", "7 rule 2", "An empty file is damage: a journal gets its name with its first record.", nil)
	head("only-newlines", "7 rule 2", "Nothing but fill.", []byte(strings.Repeat("\n", 700)))
	head("only-nul", "9 rule 1", "Nothing but NUL, as a power cut leaves files of other programs.", make([]byte, 1024))
	head("text", "9 rule 1", "A file that never was a journal.", []byte("hello\n"))
	head("json", "9 rule 1", "JSON Lines that are no journal.", []byte("{\"kind\":\"run\",\"format\":1}\n"))
	head("torn", "9 rule 1", "A first record without an end is not an interrupted write but damage.", run().b[:90])
	head("nul-sector", "9 rule 1", "The first sector is NUL, and records are behind it.", with(whole, 0, sector, 0))
	head("flip", "9 rule 1", "A flipped byte in the first record.", put(whole, `"id":"r1"`, `"id":"r2"`))
	head("alone-flip", "9 rule 1", "A flipped byte in the only record.", put(run().b, `"id":"r1"`, `"id":"r2"`))
	head("front-line-cut", "3", "The first record is cut off in front.", whole[run().ends[1]:])
	head("front-bytes-cut", "9 rule 1", "Some bytes are cut off in front.", whole[17:])
	head("bom", "9 rule 1", "A byte order mark in front of the journal.", file("\xef\xbb\xbf", whole))
	head("space", "9 rule 1", "A blank in front of the journal.", file(" ", whole))
	head("merge-markers", "9 rule 1", "Markers of a merge conflict around the first records.",
		file("<<<<<<< ours\n", whole, "=======\n", four().b, ">>>>>>> theirs\n"))
	var wide []byte
	for _, c := range whole {
		wide = append(wide, c, 0)
	}
	head("utf16", "9 rule 1", "The journal, converted to UTF-16.", file("\xff\xfe", wide))
	head("pretty", "2", "The journal, reformatted with white space.", []byte(strings.ReplaceAll(string(whole), `,"`, `, "`)))

	first := func(seq int, prev, body string) *book {
		b := newBook()
		b.seq, b.prev = seq-1, prev
		b.addAnywhere(body)
		return b.attempt(1)
	}
	identified := kind("run", identity(1, "r1", uid, 1))
	head("attempt", "3", "The first record is not of kind run.", first(1, "00000000", kind("attempt", `"n":1,"host":"h","pid":1`)).b)
	head("seq-2", "3", "Incarnation 1 begins with record 1.", first(2, "00000000", identified).b)
	head("prev", "3", "Incarnation 1 begins without a record before.", first(1, "00c0ffee", identified).b)

	// Integers of the first record, in the place of its format and its inc.
	integer := func(name, comment, format, inc string) {
		members := []string{`"format":` + format, `"id":"r1"`, `"uid":"` + uid + `"`}
		if inc != "" {
			members = append(members, `"inc":`+inc)
		}
		head(name, "3", comment, first(1, "00000000", kind("run", members...)).b)
	}
	integer("inc-missing", "The first record says nothing of its incarnation.", "1", "")
	integer("inc-zero", "An incarnation below 1.", "1", "0")
	integer("inc-negative", "A negative incarnation.", "1", "-1")
	integer("inc-string", "An incarnation in quotes.", "1", `"1"`)
	integer("inc-fraction", "An incarnation that is not written as an integer.", "1", "1.0")
	integer("inc-long", "An incarnation of 20 digits.", "1", strings.Repeat("9", 20))
	integer("inc-16-digits", "An incarnation of 16 digits.", "1", "1000000000000000")
	integer("format-zero", "A format below 1.", "0", "1")
	integer("format-exponent", "A format that is not written as an integer is no newer one.", "2e0", "1")
	integer("format-16-digits", "Nor is one of 16 digits.", "1000000000000000", "1")
	head("other-kind-newer", "3, 9", "Format 2, and not of kind run: only a first record of kind run can be of a newer format.",
		first(1, "00000000", kind("step", identity(2, "r1", uid, 1))).b)
	head("name-escaped", "2, 3", "A name that is spelled with an escape is not the name: this record has no format.",
		first(1, "00000000", kind("run", `"for\u006dat":1`, `"id":"r1"`, `"uid":"`+uid+`"`, `"inc":1`)).b)
	head("kind-escaped", "2, 3", "Nor is it of a kind.", first(1, "00000000", `"k\u0069nd":"run","at":"`+at+`",`+identity(1, "r1", uid, 1)).b)

	b := opened()
	s.add("first-behind-newlines", "2", "Empty lines are skipped, in front of the first record too.", file("\n\n\n", b.b),
		clean(2, len(b.b)+3, openedMeans))
	f := run().b[:run().ends[1]-1]
	s.add("first-without-newline", "9", "The first record is whole and its LF is missing.", f,
		clean(1, len(f), meaning{"in_progress", 0, `{}`, "", ""}).noNewline())

	two := func(format int) *book {
		b := newBook().add(kind("run", identity(format, "r1", uid, 1), `"zone":"x"`)).acked()
		return b.add(`"kind":"attempt","n":{"new":"shape"}`)
	}
	s.add("newer", "9", "A journal of format 2.", two(2).b, newer())
	s.add("newer-no-inc", "9", "A newer first record need not have an incarnation.",
		first(1, "00000000", kind("run", `"format":2`)).b, newer())
	s.add("newer-15-digits", "3, 9", "The highest format that there is.", first(1, "00000000", kind("run", identity(999_999_999_999_999, "r1", uid, 1))).b, newer())
	s.add("newer-10", "9", "A journal of format 10: compare numbers, not text.", two(10).b, newer())
	s.add("newer-torn", "9", "Whatever stands behind a newer first record is not for an old reader to judge.", file(two(2).b, `{"crc":"`), newer())
	s.add("newer-damaged", "9", "The same where an old reader would see damage.", file(two(2).b, "%%%\n%%%\n"), newer())
	s.add("newer-without-newline", "9", "A newer first record whose LF is missing.", two(2).b[:two(2).ends[1]-1], newer())
	b = newBook()
	b.seq, b.prev, b.dur = 41, "00c0ffee", 41
	s.add("newer-compacted", "9", "A compacted journal of format 2.", b.addAnywhere(kind("run", identity(2, "r1", uid, 3))).b, newer())
	head("newer-flip", "9", "A flipped byte makes format 2 of a record of format 1: it is no record.",
		put(whole, `"format":1`, `"format":2`))
}

// headVectors has lines whose five members are not as section 2 has them, though
// their length and checksum are right. They stand where record 5 belongs.
func headVectors(s *set) {
	base := four()
	head := func(name, comment, members string) {
		tail := "," + members + `,"kind":"start","key":"b","at":"` + at + `","try":1}`
		length := fmt.Sprint(len(`{"crc":"00000000","len":100`) + len(tail)) // of three digits
		s.add("head-"+name, "2", comment, file(base.b, sealed(`"len":`+length+tail), "\n"), damaged(4, len(base.b), 5))
	}
	prev := `"prev":"` + base.prev + `"`
	alone := sealed(`"len":61,` + prev + `,"seq":5,"dur":4}`)
	mustBe(len(alone), 61)
	s.add("head-alone", "2", "The five members and nothing else.", file(base.b, alone, "\n"), damaged(4, len(base.b), 5))
	head("order", "The five members stand in another order.", prev+`,"dur":4,"seq":5`)
	head("space", "White space behind a colon.", prev+`,"seq": 5,"dur":4`)
	head("missing-dur", "A member is missing.", prev+`,"seq":5`)
	head("leading-zero", "A number with a leading zero.", prev+`,"seq":05,"dur":4`)
	head("sixteen-digits", "A number of 16 digits.", prev+`,"seq":5,"dur":0000000000000004`)
	head("dur-is-seq", "A record does not know itself to be durable.", prev+`,"seq":5,"dur":5`)
	head("negative", "A number below zero.", prev+`,"seq":5,"dur":-4`)
	head("fraction", "A number that is no integer.", prev+`,"seq":5,"dur":4.0`)
	head("string", "A number in quotes.", prev+`,"seq":"5","dur":4`)
	head("prev-capitals", "A checksum in capital letters.", strings.Replace(prev, base.prev, strings.ToUpper(base.prev), 1)+`,"seq":5,"dur":4`)
}
