package spec_test

import "strings"

// bigStep is a journal of which 4 records are known to be durable, and the record
// of step b over five sectors, which a power cut may tear: x = 900, and its LF is
// at 2699. See working.
func bigStep() *book { return working(900).stepTo("b", 2700) }

// inFlight goes on with three more records that do not claim anything: step c,
// which ends at 4000, start d and start e.
func inFlight() *book {
	b := bigStep()
	b.stepTo("c", 4000)
	return b.start("d").start("e")
}

// tornVectors has what interrupted writes leave. The journal ends behind record 5.
func tornVectors(s *set) {
	big, many := bigStep().b, inFlight().b
	add := func(name, section, comment string, f []byte) {
		s.add("torn-"+name, section, comment, f, torn(5, 900, len(f), workingMeans))
	}

	const noEnd = "9 rule 3, no p"
	add("first-byte", noEnd, "One byte of a record.", big[:901])
	add("in-crc", noEnd, "The file ends within the checksum.", big[:912])
	add("in-prev", noEnd, "The file ends within the five members.", big[:940])
	add("in-value", noEnd, "The file ends within the value.", big[:2000])
	add("before-brace", noEnd, "Only the closing brace and the LF are missing.", big[:2698])
	add("at-sector", noEnd, "The file ends at the end of a sector.", big[:1536])
	rune := working(900).step("b", `"ééééé"`).b
	add("in-character", noEnd, "The file ends within a character of two bytes.", rune[:len(rune)-4])
	add("behind-padding", noEnd, "The LF that is padding was written, and a piece of the record behind it.", file(big[:900], "\n", big[900:1000]))
	add("garbage", noEnd, "Bytes that never were a record, without an end.", file(big[:900], "oops"))
	add("in-escape", noEnd, "The file ends within an escape.", file(big[:1000], `\`))

	const nul = "9 rule 3, NUL"
	add("nul-all", nul, "The file grew and nothing was written.", with(big, 900, 2700, 0))
	add("nul-begin", nul, "The line's first sector was not written: it is NUL from the last record on.", with(big, 900, 1024, 0))
	add("nul-middle", nul, "A sector in the middle of the line was not written.", with(big, 1536, 2048, 0))
	add("nul-end", nul, "The line's last sector was not written.", with(big, 2560, 2700, 0))
	add("nul-end-in-flight", nul, "The line's last sector was not written, nor the beginning of the next line in it.", with(many, 2560, 3072, 0))
	add("nul-two", nul, "Two sectors were not written.", with(with(many, 1024, 1536, 0), 2048, 2560, 0))
	add("nul-fill", nul, "The last sector of the line and the fill behind it were not written.", filled(with(filled(big, 4096), 2560, 4096, 0), 8192))
	edge := working(1023).stepTo("b", 2700).b
	f := with(edge, 1023, 1024, 0)
	s.add("torn-nul-one-byte", nul, "The last record ends one byte before a sector does: of that sector one byte is missing.", f,
		torn(5, 1023, len(f), workingMeans))

	const begin = "9 rule 3, y"
	const end = "9 rule 3, p"
	ahead := filled(big, 4096)
	add("fill-begin", begin, "In a file filled ahead, the line's first sector was not written: the line begins at a sector.", with(ahead, 900, 1024, '\n'))
	add("fill-begin-many", begin, "The line's first sectors were not written.", with(ahead, 900, 2048, '\n'))
	add("fill-middle", end, "A sector in the middle was not written: the line ends at a sector of LF.", with(ahead, 1536, 2048, '\n'))
	add("fill-end", end, "The line's last sector was not written.", with(ahead, 2560, 2700, '\n'))
	add("fill-end-short", end, "The same, and the fill ends within that sector.", with(ahead, 2560, 2700, '\n')[:2600])
	add("fill-end-one-byte", end, "The same, and the file ends with the first byte of that sector.", with(ahead, 2560, 2700, '\n')[:2561])
	add("fill-begin-and-end", begin, "First and last sector were not written.", with(with(ahead, 900, 1024, '\n'), 2560, 2700, '\n'))
	add("fill-end-in-flight", end, "The line's last sector was not written, nor the beginning of the next line in it.", with(many, 2560, 3072, '\n'))
	f = with(working(800).stepTo("b", 1024).step("c", `"here"`).start("d").b, 800, 1024, '\n')
	s.add("torn-fill-record-lost", begin, "A whole record was not written, and the valid one behind it begins at a sector.", f,
		torn(5, 800, len(f), workingMeans))

	const off = "9 rule 3, broken off"
	add("off-fill", off, "The write broke off within a sector, and fill follows.", with(ahead, 2000, 2700, '\n'))
	add("off-nul", off, "The write broke off within a sector, whose rest is NUL.", with(ahead, 1537, 2048, 0))
	add("off-in-head", off, "It broke off within the five members.", with(ahead, 930, 2700, '\n'))
	add("off-first-byte", off, "It broke off behind the first byte.", with(ahead, 901, 2700, '\n'))
	add("off-two-bytes", off, "The last two bytes of a sector are fill.", with(ahead, 2046, 2048, '\n'))
	add("off-two-nul", off, "The last two bytes of a sector are NUL.", with(ahead, 2046, 2048, 0))
	add("off-and-on", off, "It broke off within a sector, nor was the beginning of the next one written.", with(ahead, 1600, 2112, '\n'))
	add("off-end-of-file", off, "It broke off, and two bytes of fill end the file.", file(big[:2000], "\n\n"))
	add("off-in-flight", off, "It broke off, and valid records behind do not say that it was durable.", with(many, 2600, 3072, '\n'))
	add("fill-begin-within", begin, "The line's beginning was not written, up to a place within the next sector.", with(ahead, 900, 1100, '\n'))

	const head = `{"crc":"00000000","len":900,"prev":"00000000","seq":16,"dur":1`
	broken := func(name, comment, text string) {
		add(name, off, comment, file(big[:900], text, strings.Repeat("\n", 1000)))
	}
	broken("off-in-dur", "It broke off within the last of the five members, and more digits may follow.", head)
	broken("off-behind-head", "It broke off behind the comma of the last of them.", head+`,`)
	broken("off-in-escape", "It broke off within an escape of a string.", head+`,"kind":"step","value":"\u00e`)
	broken("off-in-number", "It broke off within a number.", head+`,"kind":"step","value":[{},-1.5e`)
	broken("off-in-word", "It broke off within a word.", head+`,"kind":"step","value":{"a":[true,fal`)
	broken("off-in-character", "It broke off within a character of two bytes.", head+`,"kind":"step","value":"`+"\xc3")
	broken("off-deep", "It broke off in many brackets.", head+`,"kind":"step","value":`+strings.Repeat(`[{"a":`, 100))

	const claim = "9 rules 2 and 3"
	add("in-flight", claim, "Valid records behind the torn one do not say that it was durable: they go with it.", with(many, 1536, 2048, 0))
	b := bigStep()
	b.dur = 5
	b.stepTo("c", 4000).start("d")
	add("in-flight-dur-is-a", claim, "Records behind say that the last good one was durable, and no more.", with(b.b, 1536, 2048, 0))

	f = file(run().b, opened().record(2)[:70])
	s.add("torn-behind-first", "9", "The second record is torn; the first was durable when the file got its name.", f,
		torn(1, run().ends[1], len(f), meaning{"in_progress", 0, `{}`, "", ""}))

	// A writer that broke rule 6 of section 7: step b has its LF at 1024.
	f = with(filled(working(800).stepToAnywhere("b", 1025).b, 2048), 1000, 1001, 'O')
	s.add("torn-by-a-careless-writer", "7 rule 6, 9", "What padding is for: a whole record with one wrong byte, whose LF is at a sector of LF, looks torn.", f,
		torn(5, 800, len(f), workingMeans))

	done := meaning{"in_progress", 1, `{"a":"done","b":"done"}`, "", ""}
	f = file(x1(bigStep()), "oops")
	s.add("torn-behind-missing-newline", "9", "A whole record without its LF, and bytes without an end: the record counts.", f,
		torn(6, 2699, 2703, done).noNewline())
	f = with(big, 2699, 2700, 'J')
	s.add("torn-last-newline-flipped", "9", "A flipped LF at the end of the file: the record counts, the byte behind it has no end.", f,
		torn(6, 2699, 2700, done).noNewline())
	f = file(x1(bigStep()), strings.Repeat("\x00", 3072-2699))
	s.add("torn-nul-behind-missing-newline", "9", "A whole record, and NUL from its LF to the end of the sector: the record counts.", f,
		torn(6, 2699, 3072, done).noNewline())
}
