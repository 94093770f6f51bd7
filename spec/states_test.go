package spec_test

import "strings"

// state appends a whole state.
func (b *book) state(text string) *book {
	return b.add(kind("state", `"sum":"`+sum(text)+`"`, `"value":`+text))
}

// patch appends a state as a patch that makes it text.
func (b *book) patch(patch, text string) *book {
	return b.add(kind("state", `"sum":"`+sum(text)+`"`, `"patch":`+patch))
}

// stateVectors has states, whole and as patches.
func stateVectors(s *set) {
	means := func(state string) meaning { return meaning{"in_progress", 1, `{}`, "", state} }
	add := func(name, section, comment string, b *book, records int, state string) {
		s.add(name, section, comment, b.b, clean(records, len(b.b), means(state)))
	}

	add("state-newest", "5", "The newest state counts.", opened().state(`{"n":1}`).state(`{"n":2}`), 4, `{"n":2}`)
	add("state-null", "5", "null is a state.", opened().state(`{"n":1}`).state(`null`), 4, `null`)
	add("state-schema", "5", "A state with the version of its schema.",
		opened().add(kind("state", `"sum":"`+sum("7")+`","schema":3`, `"value":7`)), 3, `7`)
	spaced := "{ \"n\" : 1 }\n"
	add("state-vs", "4, 5", "The sum of a state stored under vs is that of its exact text.",
		opened().add(kind("state", `"sum":"`+sum(spaced)+`"`, `"vs":"{ \"n\" : 1 }\n"`)), 3, spaced)
	add("state-exact", "4", "A state's text is handed on as it is.",
		opened().state(`{"z":9007199254740993,"a":[1.0,1e400,"\u00e9\/"]}`), 3, `{"z":9007199254740993,"a":[1.0,1e400,"\u00e9\/"]}`)
	b := four().state(`{"n":1}`).complete("2")
	s.add("state-of-a-complete-run", "6", "State and result live beside each other.", b.b,
		clean(6, len(b.b), meaning{"complete", 1, `{"a":"done"}`, "2", `{"n":1}`}))
	add("state-after-clear", "5", "After a clear the first state is whole.",
		opened().state(`[1]`).patch(`[{"op":"add","path":"/-","value":2}]`, `[1,2]`).add(kind("clear")).state(`[3]`).patch(`[{"op":"add","path":"/-","value":4}]`, `[3,4]`), 7, `[3,4]`)
	add("state-cleared", "5, 6", "After a clear there is no state.", opened().state(`[1]`).add(kind("clear")), 4, "")
	add("state-and-epoch", "5", "An epoch does not reach the run's own state.",
		opened().state(`{"a":1}`).add(keyed("epoch", "a", `"reason":"r"`)), 4, `{"a":1}`)

	long := strings.Repeat(`"0123456789",`, 5000)
	add("state-65k", "8, 10", "A state longer than 64 KiB, and a patch of it.",
		opened().state(`[`+long+`0]`).patch(`[{"op":"replace","path":"/0","value":"new"},{"op":"remove","path":"/5000"}]`,
			`["new",`+strings.TrimSuffix(long[len(`"0123456789",`):], ",")+`]`), 4, `["new",`+strings.TrimSuffix(long[len(`"0123456789",`):], ",")+`]`)

	// States that the records hold and that do not fit.
	add("state-wrong-sum", "5", "The lines are right and the sum of the whole state is not: it must not be handed on.",
		opened().add(kind("state", `"sum":"`+sum("7")+`"`, `"value":8`)), 3, "!")
	add("state-wrong-sum-patch", "5", "The lines are right and the sum of the patched state is not.",
		opened().state(`[1]`).patch(`[{"op":"add","path":"/-","value":2}]`, `[1,3]`), 4, "!")
	add("state-patch-without-state", "5", "The first state must be whole.",
		opened().patch(`[{"op":"replace","path":"","value":1}]`, `1`), 3, "!")
	add("state-patch-after-clear", "5", "The first state after a clear must be whole.",
		opened().state(`[1]`).add(kind("clear")).patch(`[{"op":"add","path":"/-","value":2}]`, `[1,2]`), 5, "!")
	add("state-patch-misses", "8", "A patch of a member that is not there.",
		opened().state(`{"a":1}`).patch(`[{"op":"replace","path":"/b","value":2}]`, `{"a":1}`), 4, "!")
	add("state-whole-after-wrong", "5", "A whole state does not depend on the ones before it.",
		opened().patch(`[{"op":"remove","path":"/x"}]`, `{}`).state(`{"n":2}`), 4, `{"n":2}`)
}

// patchVectors has one state and one or more patches of it each.
func patchVectors(s *set) {
	add := func(name, comment, from, patch, to string) {
		b := opened().state(from).patch(patch, to)
		s.add("patch-"+name, "8", comment, b.b, clean(4, len(b.b), meaning{"in_progress", 1, `{}`, "", to}))
	}
	add("append", "A path that ends in /- appends to an array.",
		`{"log":["a"]}`, `[{"op":"add","path":"/log/-","value":"b"},{"op":"add","path":"/log/-","value":{"c":[]}}]`, `{"log":["a","b",{"c":[]}]}`)
	add("append-to-empty", "The first element and the first member.",
		`{"l":[],"o":{}}`, `[{"op":"add","path":"/l/-","value":1},{"op":"add","path":"/o/x","value":2}]`, `{"l":[1],"o":{"x":2}}`)
	add("middle", "A value in the middle is replaced and everything else stays.",
		`{"a":[1,{"b":"old","c":3},4],"d":5}`, `[{"op":"replace","path":"/a/1/b","value":"new"}]`, `{"a":[1,{"b":"new","c":3},4],"d":5}`)
	add("insert", "add with an index inserts in front of that element; with the array's length it appends.",
		`[1,2]`, `[{"op":"add","path":"/1","value":1.5},{"op":"add","path":"/3","value":3}]`, `[1,1.5,2,3]`)
	add("remove", "Members and elements are removed, first, middle and last.",
		`{"a":1,"b":[1,2,3],"c":3,"d":4}`, `[{"op":"remove","path":"/a"},{"op":"remove","path":"/b/1"},{"op":"remove","path":"/b/1"},{"op":"remove","path":"/d"}]`, `{"b":[1],"c":3}`)
	add("remove-all", "What is left of an object and of an array.",
		`{"a":{"x":1},"b":[1]}`, `[{"op":"remove","path":"/a/x"},{"op":"remove","path":"/b/0"}]`, `{"a":{},"b":[]}`)
	add("new-member", "A new member stands at the end of its object.",
		`{"z":1,"o":{"y":1}}`, `[{"op":"add","path":"/o/a","value":2},{"op":"add","path":"/a","value":3}]`, `{"z":1,"o":{"y":1,"a":2},"a":3}`)
	add("before", "before puts a new member in front of another one.",
		`{"a":1,"c":3}`, `[{"op":"add","path":"/b","value":2,"before":"c"},{"op":"add","path":"/0","value":0,"before":"a"}]`, `{"0":0,"a":1,"b":2,"c":3}`)
	add("before-member-order", "The members of an operation stand in any order.",
		`{"a":1}`, `[{"before":"a","value":{"op":"remove"},"path":"/b","op":"add"}]`, `{"b":{"op":"remove"},"a":1}`)
	add("add-existing", "add of a member that exists replaces its value in its place.",
		`{"a":1,"b":2,"c":3}`, `[{"op":"add","path":"/b","value":[4]}]`, `{"a":1,"b":[4],"c":3}`)
	add("tilde", "In a path ~1 is a slash and ~0 a tilde.",
		`{"a/b":1,"c~d":2,"/":3,"~":4}`, `[{"op":"replace","path":"/a~1b","value":5},{"op":"replace","path":"/c~0d","value":6},{"op":"remove","path":"/~1"},{"op":"remove","path":"/~0"}]`, `{"a/b":5,"c~d":6}`)
	add("tilde-01", "~01 is a tilde and a 1, and not a slash.",
		`{"~1":1,"/":2}`, `[{"op":"replace","path":"/~01","value":3}]`, `{"~1":3,"/":2}`)
	add("new-member-tilde", "A new member's name is the last segment with ~1 and ~0 turned into / and ~.",
		`{}`, `[{"op":"add","path":"/a~1b~0c","value":1}]`, `{"a/b~c":1}`)
	add("new-member-spelling", "A new member's name keeps the escapes of the path.",
		`{"a":1}`, `[{"op":"add","path":"/caf\u00e9\"\\\u2028","value":2}]`, `{"a":1,"caf\u00e9\"\\\u2028":2}`)
	add("escaped-names", "Members whose names have escapes are found by the same spelling.",
		`{"\u00e9":1,"\"":2,"\\":3}`, `[{"op":"replace","path":"/\u00e9","value":4},{"op":"replace","path":"/\"","value":5},{"op":"remove","path":"/\\"}]`, `{"\u00e9":4,"\"":5}`)
	add("empty-name", "A segment of no characters names the member of no characters.",
		`{"":{"":1}}`, `[{"op":"replace","path":"//","value":2}]`, `{"":{"":2}}`)
	add("digits-as-names", "In an object, digits are a name.",
		`{"0":{"-":1}}`, `[{"op":"replace","path":"/0/-","value":2},{"op":"add","path":"/01","value":3}]`, `{"0":{"-":2},"01":3}`)
	add("exact-numbers", "Numbers and strings keep their spelling, named or not.",
		`{"a":1.0,"b":1e400,"s":"\/\u0041","n":[9007199254740993]}`, `[{"op":"replace","path":"/a","value":2.50},{"op":"add","path":"/n/-","value":1E-400}]`, `{"a":2.50,"b":1e400,"s":"\/\u0041","n":[9007199254740993,1E-400]}`)
	add("root", "The empty path is the whole document.",
		`{"a":1}`, `[{"op":"replace","path":"","value":[1]},{"op":"add","path":"/-","value":2}]`, `[1,2]`)
	add("empty", "A patch without operations.", `{"a":1}`, `[]`, `{"a":1}`)
	add("brackets-in-strings", "Brackets, quotes and commas within strings are text.",
		`{"a":"]},{\"","b":["[",{"x":"\\"}]}`, `[{"op":"replace","path":"/b/1/x","value":"},]"},{"op":"add","path":"/b/0","value":"\\\""}]`, `{"a":"]},{\"","b":["\\\"","[",{"x":"},]"}]}`)

	b := opened().state(`{"n":0,"l":[]}`)
	b.patch(`[{"op":"replace","path":"/n","value":1}]`, `{"n":1,"l":[]}`).acked().start("a")
	b.patch(`[{"op":"add","path":"/l/-","value":"x"}]`, `{"n":1,"l":["x"]}`).acked()
	b.patch(`[{"op":"remove","path":"/n"},{"op":"add","path":"/m","value":null,"before":"l"}]`, `{"m":null,"l":["x"]}`)
	s.add("patch-chain", "5, 8", "Patches build on each other, with other records between them.", b.b,
		clean(7, len(b.b), meaning{"in_progress", 1, `{"a":"running"}`, "", `{"m":null,"l":["x"]}`}))

	b.state(`{"l":[7]}`).patch(`[{"op":"add","path":"/l/-","value":8}]`, `{"l":[7,8]}`)
	s.add("patch-after-whole-state", "5", "A patch builds on the newest state before it.", b.b,
		clean(9, len(b.b), meaning{"in_progress", 1, `{"a":"running"}`, "", `{"l":[7,8]}`}))

	b = opened().add(kind("state", `"sum":"`+sum("{\"a\":\"x\u2028y\",\"n\":1}")+`"`, `"vs":"{\"a\":\"x\u2028y\",\"n\":1}"`))
	b.patch(`[{"op":"replace","path":"/n","value":2}]`, "{\"a\":\"x\u2028y\",\"n\":2}")
	s.add("patch-of-vs", "4, 8", "A compact text with a raw U+2028 is stored under vs, and a patch leaves that character as it is.", b.b,
		clean(4, len(b.b), meaning{"in_progress", 1, `{}`, "", "{\"a\":\"x\u2028y\",\"n\":2}"}))
}
