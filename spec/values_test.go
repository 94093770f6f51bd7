package spec_test

import (
	"encoding/json"
	"strings"
)

// result makes a complete run of three records with the given text as its result.
func result(s *set, name, comment, value string) {
	valueVector(s, name, comment, `"value":`+value, value)
}

// viaString is the same for a text that is stored under vs.
func viaString(s *set, name, comment, text string) {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	member := strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`).Replace(string(quoted))
	valueVector(s, name, comment, `"vs":`+member, text)
}

func valueVector(s *set, name, comment, member, text string) {
	b := opened().add(kind("complete", member))
	s.add(name, "4", comment, b.b, clean(3, len(b.b), meaning{"complete", 1, `{}`, text, ""}))
}

// valueVectors has texts whose bytes must survive.
func valueVectors(s *set) {
	result(s, "value-null", "null is a value, and not the absence of one.", `null`)
	result(s, "value-2p53", "An integer that a binary64 cannot hold keeps its digits.", `{"n":9007199254740993}`)
	result(s, "value-1e400", "A number beyond every binary64 keeps its digits.", `[1e400,-1E-400]`)
	result(s, "value-number-spelling", "Numbers keep their spelling.", `[1.0,1.50,-0,-0.0,1e2,1E+02,0.1e-07,100000000000000000000000000000000.0000000000000000000000001]`)
	result(s, "value-escapes", "Escapes keep their spelling.", `["\u0085\u2028\u2029","\u0041\/\u00e9\u00E9","\ud83d\ude00","\u0000\b\f\n\r\t"]`)
	result(s, "value-utf8", "Characters of one to four bytes.", `"aéあ😀"`)
	result(s, "value-lone-surrogate", "Half a surrogate pair, as an escape, is text like any other.", `"\ud800"`)
	result(s, "value-member-order", "Members keep their order.", `{"z":1,"a":2,"m":{"b":1,"a":2}}`)
	result(s, "value-names-of-records", "Members of a value with the names that records use.", `{"crc":"0","len":1,"kind":"run","value":{"vs":"x"},"vs":1}`)
	result(s, "value-quotes", "Quotes and backslashes before the end of a string.", `{"a\"":"\\","b\\":"\\\"}","c":"{\"crc\":\""}`)
	result(s, "value-looks-like-a-journal", "A string that holds a line of a journal is a string.", `"`+strings.ReplaceAll(example[:180], `"`, `\"`)+`\n"`)
	result(s, "value-empty", "Empty strings, names, arrays and objects.", `{"":"","a":[],"b":{}}`)
	result(s, "value-depth-500", "A value of 500 levels.", strings.Repeat(`[`, 500)+strings.Repeat(`]`, 500))
	result(s, "value-depth-500-objects", "A value of 500 levels of objects.", strings.Repeat(`{"a":`, 499)+`{}`+strings.Repeat(`}`, 499))
	result(s, "value-70k", "A line longer than 64 KiB.", `{"text":"`+strings.Repeat("0123456789", 7000)+`"}`)
	result(s, "value-raw-separators", "A writer must not write raw U+0085, U+2028 or U+2029; a reader splits at LF only.", "\"a\u0085b\u2028c\u2029d\"")

	viaString(s, "vs-white-space", "White space between tokens is part of the text.", "{\n  \"a\": 1,\r\n\t\"b\" : [ ]\n}\n")
	viaString(s, "vs-u2028", "A text with raw U+2028 and U+2029.", "\"a\u2028b\u2029c\"")
	viaString(s, "vs-u0085", "A text with a raw U+0085.", "[\"a\u0085b\"]")
	viaString(s, "vs-lone-surrogate", "An escape of half a surrogate pair inside a text is not one of the line.", `[ "\ud800", "\uDC00x" ]`)
	viaString(s, "vs-numbers", "Numbers keep their digits under vs too.", `[ 9007199254740993, 1e400, 1.0 ]`)
	valueVector(s, "vs-spelling", "vs is a JSON string; whatever escapes it uses, the text is what they mean.",
		`"vs":"\u005b \"\/\ud83d\uDE00\\u0085\\\\\" \t]"`, "[ \"/😀\\u0085\\\\\" \t]")

	b := opened().start("a").add(keyed("step", "a", `"try":1,"us":1`, `"vs":"{ \"a\": 1 }"`)).acked().start("b")
	s.add("vs-step", "4, 5", "A step whose value is stored under vs is done.", b.b, clean(5, len(b.b), workingMeans))

	b = opened().start("a").step("a", `"`+strings.Repeat("é", 36000)+`"`).acked().start("b")
	s.add("value-step-70k", "10", "A long line, with records behind it.", b.b, clean(5, len(b.b), workingMeans))
}

// limitVectors has the largest that section 10 allows, where that is practical.
func limitVectors(s *set) {
	key := strings.Repeat("é/", 341) + "x" // 1,024 bytes
	b := opened().start(key).step(key, "1")
	s.add("limit-key-1024", "10", "A key of 1,024 bytes.", b.b, clean(4, len(b.b), meaning{"in_progress", 1, `{"` + key + `":"done"}`, "", ""}))

	b = newBook().add(kind("run", identity(1, strings.Repeat("ü", 256), uid, 1))).acked().attempt(1)
	s.add("limit-id-512", "10", "A run ID of 512 bytes.", b.b, clean(2, len(b.b), openedMeans))

	input := `"` + strings.Repeat("i", 4094) + `"`
	b = newBook().add(kind("run", identity(1, "r1", uid, 1), `"in":"00000000000000000000000000000000","input":`+input)).acked().attempt(1)
	s.add("limit-input-4096", "10", "An input of 4,096 bytes. Its digest is not for a reader of the journal to check.", b.b, clean(2, len(b.b), openedMeans))

	b = four().add(kind("failed", `"error":"`+strings.Repeat("e", 4096)+`"`))
	s.add("limit-error-4096", "10", "An error's text of 4,096 bytes.", b.b, clean(5, len(b.b), meaning{"failed", 1, `{"a":"done"}`, "", ""}))

	b = newBook()
	b.seq, b.prev, b.dur = 999999999999997, "00c0ffee", 999999999999997
	b.addAnywhere(kind("run", identity(1, "r1", uid, 2))).add(kind("attempt", `"was":2,"n":1,"host":"h","pid":1`))
	s.add("limit-seq", "2", "Numbers of 15 digits.", b.b, clean(2, len(b.b), openedMeans))
}
