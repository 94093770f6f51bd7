package spec_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

func (b *book) note(key, value string) *book {
	return b.add(keyed("note", key, `"value":`+value))
}

func (b *book) epoch(key string, n int) *book {
	return b.add(keyed("epoch", key, fmt.Sprintf(`"n":%d,"reason":"input changed"`, n)))
}

// alias says that what is recorded under from goes on under key.
func (b *book) alias(key, from string) *book {
	return b.add(keyed("alias", key, `"from":"`+from+`"`))
}

// item is a step from start to end that belongs to a Map.
func (b *book) item(m, key, value string) *book {
	return b.add(keyed("start", key, `"try":1,"map":"`+m+`"`)).step(key, value).acked()
}

// idem is the idempotency key of section 6 under this run's uid: 32 digits are 128 bits.
func idem(covered string) string {
	mac := hmac.New(sha256.New, []byte(uid))
	mac.Write([]byte(covered))
	return hex.EncodeToString(mac.Sum(nil))[:32]
}

// going is what an open run with these steps means.
func going(steps string) meaning { return meaning{"in_progress", 1, steps, "", ""} }

// noteVectors has what a record may say beside the step's end.
func noteVectors(s *set) {
	add := func(name, section, comment string, b *book, records int, m meaning, more ...string) {
		s.add(name, section, comment, b.b, clean(records, len(b.b), m).also(more...))
	}
	running, done := going(`{"a":"running"}`), going(`{"a":"done"}`)

	add("note-newest", "5, 6", "The newest note of a key counts.",
		opened().start("a").note("a", `{"job":7}`).note("b", "1").note("a", `{"job":8.0}`), 6, running, "notes", `{"a":"{\"job\":8.0}","b":"1"}`)
	add("note-vs", "4, 5", "A note whose text is not compact is stored under vs.",
		opened().start("a").add(keyed("note", "a", `"vs":"{ \"job\" : 7 }\u2028"`)), 4, running, "notes", `{"a":"{ \"job\" : 7 }\u2028"}`)
	add("note-null", "5", "null is a note.", opened().start("a").note("a", "1").note("a", "null"), 5, running, "notes", `{"a":"null"}`)
	add("note-over-tries", "6", "A note outlives a failure, a new try and the result of its step.",
		opened().start("a").note("a", `"job 7"`).fail("a").start("a").step("a", "1"), 7, done, "notes", `{"a":"\"job 7\""}`)
	add("note-is-no-step", "5", "A note makes no step of its key.", opened().note("a", "1"), 3, openedMeans, "notes", `{"a":"1"}`)
	add("note-after-epoch", "6", "An epoch makes the notes of its key and inside it history, and no others.",
		opened().start("a").note("a", "1").note("a/b/c", "2").note("ab", "3").epoch("a", 1), 7, openedMeans, "notes", `{"ab":"3"}`)
	add("note-after-inner-epoch", "6", "An epoch of an inner key leaves the outer one's note.",
		opened().note("a", "1").note("a/b", "2").epoch("a/b", 1).note("a/b", "4"), 6, openedMeans, "notes", `{"a":"1","a/b":"4"}`)
	add("note-after-clear", "6", "A clear makes notes history.", opened().note("a", "1").add(kind("clear")), 4, openedMeans, "notes", `{}`)

	once := func(b *book, key string) *book { return b.add(keyed("start", key, `"try":1,"once":true`)) }
	add("once", "5, 6", "A step that must not be run again by itself once it began.", once(opened(), "a"), 3, running, "once", `["a"]`)
	add("once-false", "5", "once may be false, which says nothing.", opened().add(keyed("start", "a", `"try":1,"once":false`)), 3, running, "once", `[]`)
	add("once-newest-start", "6", "The newest start of a step says whether it has once.",
		once(opened(), "a").fail("a").start("a"), 5, running, "once", `[]`)
	add("once-after-epoch", "6", "After its epoch the step may be run.", once(opened(), "a").epoch("a", 1), 4, openedMeans, "once", `[]`)
	add("once-epoch-around", "6", "Nor does once outlive an epoch of a key around it.", once(opened(), "a/b").epoch("a", 1), 4, openedMeans, "once", `[]`)

	add("decided-done", "5", "Somebody found out that a step in doubt was done, and its value.",
		once(opened(), "a").add(keyed("step", "a", `"try":1,"us":0,"reason":"invoice 7 \"exists\"","by":"ann\u001b"`, `"value":{"by":"x"}`)), 4, done)
	add("decided-anew", "5", "Somebody found out that a step in doubt was not done.",
		once(opened(), "a").add(keyed("epoch", "a", `"n":1,"reason":"no invoice","by":"ann"`)), 4, openedMeans)

	labelled := func(labels string) *book {
		return newBook().add(kind("run", identity(1, "r1", uid, 1), `"labels":`+labels)).acked().attempt(1)
	}
	add("labels", "5", "A run's labels.", labelled(`{"customer":"ACME","tier":"1"}`), 2, openedMeans, "labels", `{"customer":"ACME","tier":"1"}`)
	add("labels-escapes", "5", "A label's name and its value are what their JSON strings mean.",
		labelled(`{"\u0061\"\\\/é\u2028":"\n{\"a\":\"b\"},]","":""}`), 2, openedMeans, "labels", `{"a\"\\/é\u2028":"\n{\"a\":\"b\"},]","":""}`)
	add("labels-none", "5", "An object without labels.", labelled(`{}`), 2, openedMeans, "labels", `{}`)
}

// aliasVectors has keys that were renamed.
func aliasVectors(s *set) {
	add := func(name, comment string, b *book, records int, steps string, more ...string) {
		s.add("alias-"+name, "6", comment, b.b, clean(records, len(b.b), going(steps)).also(more...))
	}
	add("step", "A step goes on under its new key, and nothing is left under the old one.", four().alias("b", "a"), 5, `{"b":"done"}`)
	add("running", "A step that has no end yet ends under its new key.",
		opened().start("a").fail("a").alias("b", "a").start("b").step("b", "1"), 7, `{"b":"done"}`)
	add("nested", "What is inside the old key goes along, and what only looks like it stays.",
		opened().start("a").start("a/x").step("a/x/y", "1").start("ab").start("a b").start("x/a").start("A").alias("b", "a"), 10,
		`{"b":"running","b/x":"running","b/x/y":"done","ab":"running","a b":"running","x/a":"running","A":"running"}`)
	add("scope", "A scope that is no step is renamed too.", opened().done("s/a", "1").start("s/b").alias("t", "s"), 6, `{"t/a":"done","t/b":"running"}`)
	add("inner", "A step within another one is renamed; the keys need not have the same outer key.",
		opened().start("a").done("a/x", "1").start("b").alias("b/y/z", "a/x"), 7, `{"a":"running","b":"running","b/y/z":"done"}`)
	add("spelling", "Both keys of an alias are what their JSON strings mean.",
		opened().start(`caf\u00e9~1`).alias(`\u0062`, `café~1`), 4, `{"b":"running"}`)
	add("map", "A Map is renamed, and its items are items of the renamed Map.",
		opened().add(keyed("map", "m", `"total":3,"done":0`)).item("m", "m/x", "1").item("m", "m/y", "2").alias("n", "m").add(keyed("map", "n", `"total":3,"done":2`)).item("n", "n/z", "3"), 11,
		`{"n/x":"done","n/y":"done","n/z":"done"}`, "maps", `{"n":["n/x","n/y","n/z"]}`)
	add("around-a-map", "A Map inside a renamed scope.",
		opened().add(keyed("map", "s/m", `"total":1,"done":0`)).item("s/m", "s/m/x", "1").alias("t", "s"), 6, `{"t/m/x":"done"}`, "maps", `{"t/m":["t/m/x"]}`)
	add("item", "An item is renamed and stays an item of its Map.",
		opened().add(keyed("map", "m", `"total":1,"done":0`)).item("m", "m/x", "1").alias("m/y", "m/x"), 6, `{"m/y":"done"}`, "maps", `{"m":["m/y"]}`)
	add("note", "Notes go along.", opened().start("a").note("a", "1").note("a/x", "2").alias("b", "a"), 6, `{"b":"running"}`, "notes", `{"b":"1","b/x":"2"}`)
	add("state", "States go along, and patches under the new key build on them.",
		opened().start("a").stateOf("a", `[1]`).patchOf("a", add1(2), `[1,2]`).stateOf("a/x", `"x"`).alias("b", "a").patchOf("b", add1(3), `[1,2,3]`), 8,
		`{"b":"running"}`, "states", `{"b":"[1,2,3]","b/x":"\"x\""}`)
	add("once", "once goes along.", opened().add(keyed("start", "a", `"try":1,"once":true`)).alias("b", "a"), 4, `{"b":"running"}`, "once", `["b"]`)

	add("onto-a-step", "What is there under the new key already stays, and what was under the old one is history.",
		opened().start("b").done("a", "1").alias("b", "a"), 6, `{"b":"running"}`)
	add("onto-some", "Each key inside is looked at by itself.",
		opened().done("a", "1").start("a/x").done("a/y", "1").done("b/x", "1").alias("b", "a"), 10, `{"b":"done","b/x":"done","b/y":"done"}`)
	add("onto-another-sort", "A step, a Map, a note and a state each go where there is none of their sort.",
		opened().start("a").note("a", "1").stateOf("a", "2").add(keyed("map", "a", `"total":1,"done":0`)).note("b", "3").alias("b", "a"), 8,
		`{"b":"running"}`, "notes", `{"b":"3"}`, "states", `{"b":"2"}`, "maps", `{"b":[]}`)
	add("onto-history", "What an epoch made history is not there.", opened().start("b").epoch("b", 1).done("a", "1").alias("b", "a"), 7, `{"b":"done"}`)

	add("chain", "Renamed twice.", four().alias("b", "a").alias("c", "b"), 6, `{"c":"done"}`)
	add("chain-late", "An alias moves what is recorded before it and nothing else.", four().alias("c", "b").alias("b", "a"), 6, `{"b":"done"}`)
	add("back", "Renamed and back.", four().start("a/x").alias("b", "a").alias("a", "b"), 7, `{"a":"done","a/x":"running"}`)
	add("old-key-anew", "What comes under the old key later is a step of its own.",
		four().alias("b", "a").start("a").start("a/x"), 7, `{"a":"running","a/x":"running","b":"done"}`)
	add("old-key-moves-again", "What comes under the old key later is moved by a later alias.",
		four().alias("b", "a").start("a").alias("c", "a"), 7, `{"b":"done","c":"running"}`)
	add("of-nothing", "An alias of a key without records is fine.", four().alias("y", "x"), 5, `{"a":"done"}`)
	add("of-itself", "An alias of a key to itself means nothing.", four().start("a/x").alias("a", "a"), 6, `{"a":"done","a/x":"running"}`)
	add("into-itself", "Nor does one of a key to a key inside it.", four().start("a/x").start("a/b").alias("a/b", "a"), 7, `{"a":"done","a/x":"running","a/b":"running"}`)
	add("out-of-itself", "Nor does one of a key to a key around it.", four().start("b/x").start("b/x/y").alias("b", "b/x"), 7, `{"a":"done","b/x":"running","b/x/y":"running"}`)
	add("after-epoch", "What an epoch made history is not moved.", four().start("a/x").epoch("a", 1).alias("b", "a"), 7, `{}`)
	add("and-epoch", "An epoch of the new key reaches what was moved, one of the old key does not.",
		opened().done("a", "1").done("c", "1").alias("b", "a").alias("d", "c").epoch("b", 1).epoch("c", 1), 10, `{"d":"done"}`)
	add("and-clear", "A clear drops what was moved; the alias does nothing later.", four().alias("b", "a").add(kind("clear")).start("a"), 7, `{"a":"running"}`)
}

// idempotencyVectors has idempotency keys, made here from what section 6 says that they
// cover.
func idempotencyVectors(s *set) {
	add := func(name, comment string, b *book, records int, steps string, keys ...string) {
		list := make([]string, 0, len(keys)/2)
		for i := 0; i < len(keys); i += 2 {
			list = append(list, `"`+keys[i]+`":"`+keys[i+1]+`"`)
		}
		s.add("idempotency-"+name, "6", comment, b.b, clean(records, len(b.b), going(steps)).also("idempotency", "{"+strings.Join(list, ",")+"}"))
	}
	add("example", "The two of section 12.", opened().start("greet"), 3, `{"greet":"running"}`, "greet", "a851b6a5aa8a4c474a6d3ebe5df11bcd")
	add("example-epoch", "The second one of section 12.", opened().start("greet").epoch("greet", 1).start("greet"), 5, `{"greet":"running"}`, "greet", idem("greet\x001@5"))
	add("tries", "It is the same over all tries.", opened().start("a").fail("a").add(keyed("start", "a", `"try":2`)), 5, `{"a":"running"}`, "a", idem("a"))
	add("keys", "The key is covered as it is, in UTF-8.", opened().start("a/b").start("é~1/x"), 4, `{"a/b":"running","é~1/x":"running"}`, "a/b", idem("a/b"), "é~1/x", idem("é~1/x"))
	add("epochs", "Epochs of the key and of those around it are covered, with their n, from the outermost on; lengths are in bytes.",
		opened().epoch("é", 1).epoch("é", 2).epoch("é/x", 12).epoch("é/x/y/z", 1).epoch("é/w", 5).start("é/x/y/z").start("é/x/y").start("é"), 10,
		`{"é/x/y/z":"running","é/x/y":"running","é":"running"}`,
		"é/x/y/z", idem("é/x/y/z\x002@2\x0012@4\x001@8"), "é/x/y", idem("é/x/y\x002@2\x0012@4"), "é", idem("é\x002@2"))
	add("inner-epoch-first", "The order is that of the keys, not that of the records.",
		opened().epoch("a/b", 3).epoch("a", 1).start("a/b"), 5, `{"a/b":"running"}`, "a/b", idem("a/b\x001@1\x003@3"))
	add("alias", "A step that is renamed keeps its idempotency key, and so do those inside it; new ones inside get theirs of the new key.",
		opened().epoch("a", 1).start("a").start("a/x").alias("b", "a").start("b/y"), 7, `{"b":"running","b/x":"running","b/y":"running"}`,
		"b", idem("a\x001@1"), "b/x", idem("a/x\x001@1"), "b/y", idem("b/y"))
	add("alias-chain", "Renamed twice, and epochs of the old keys later.",
		opened().epoch("a", 1).start("a").alias("b", "a").epoch("a", 2).alias("c", "b").epoch("b", 1), 8, `{"c":"running"}`, "c", idem("a\x001@1"))
	add("alias-old-key-anew", "A step that comes under the old key later, or inside it, does not get the same.",
		opened().epoch("a", 4).start("a").start("a/x").alias("b", "a").start("a").start("a/x").start("b/y"), 9,
		`{"a":"running","a/x":"running","b":"running","b/x":"running","b/y":"running"}`,
		"b", idem("a\x004@1"), "b/x", idem("a/x\x004@1"), "a", idem("a\x005@1"), "a/x", idem("a/x\x005@1"), "b/y", idem("b/y"))
	add("alias-epoch", "An epoch of the new key ends that.",
		opened().start("a").alias("b", "a").epoch("b", 1).start("b"), 6, `{"b":"running"}`, "b", idem("b\x001@1"))
	add("alias-occupied", "A step that stays where another one would have moved keeps its own.",
		opened().start("a").start("b").alias("b", "a"), 5, `{"b":"running"}`, "b", idem("b"))
	add("clear", "A clear drops the count of epochs.", opened().epoch("a", 1).add(kind("clear")).start("a"), 5, `{"a":"running"}`, "a", idem("a"))
}

// stateOf appends a whole state of a scope.
func (b *book) stateOf(key, text string) *book {
	return b.add(keyed("state", key, `"sum":"`+sum(text)+`"`, `"value":`+text))
}

// patchOf appends a state of a scope as a patch that makes it text.
func (b *book) patchOf(key, patch, text string) *book {
	return b.add(keyed("state", key, `"sum":"`+sum(text)+`"`, `"patch":`+patch))
}

// add1 is a patch that appends a number to an array.
func add1(n int) string { return fmt.Sprintf(`[{"op":"add","path":"/-","value":%d}]`, n) }

// scopeVectors has states of more than one key.
func scopeVectors(s *set) {
	add := func(name, section, comment string, b *book, records int, own, states string) {
		s.add("scope-state-"+name, section, comment, b.b, clean(records, len(b.b), meaning{"in_progress", 1, `{}`, "", own}).also("states", states))
	}
	add("and-own", "5", "The state of a scope is not the run's own.",
		opened().state(`1`).stateOf("a", `2`).state(`3`), 5, `3`, `{"a":"2"}`)
	add("only", "5", "Where only scopes have states, the run has none.", opened().stateOf("a", `2`), 3, "", `{"a":"2"}`)
	two := func() *book {
		return opened().stateOf("a", `[1]`).stateOf("a/b", `[7]`).state(`[0]`).
			patchOf("a", add1(2), `[1,2]`).patchOf("a/b", add1(8), `[7,8]`).patch(add1(0), `[0,0]`).patchOf("a", add1(3), `[1,2,3]`)
	}
	add("patches", "5, 8", "A patch is one of the state before of the same key, whatever stands in between.",
		two(), 9, `[0,0]`, `{"a":"[1,2,3]","a/b":"[7,8]"}`)
	add("inner-epoch", "5, 6", "An epoch makes the states of its key and inside it history.", two().epoch("a/b", 1).patchOf("a", add1(4), `[1,2,3,4]`), 11, `[0,0]`, `{"a":"[1,2,3,4]"}`)
	add("epoch", "5, 6", "The run's own state and those beside stay.", two().stateOf("ab", `5`).epoch("a", 1), 11, `[0,0]`, `{"ab":"5"}`)
	add("whole-after-epoch", "5", "After an epoch the first state is whole.", two().epoch("a", 1).stateOf("a", `[9]`).patchOf("a", add1(1), `[9,1]`), 12, `[0,0]`, `{"a":"[9,1]"}`)
	add("whole-and-patch", "5", "A whole state heals its own key.", two().patchOf("a", add1(5), `[5]`).stateOf("a", `[6]`).patchOf("a", add1(7), `[6,7]`), 12, `[0,0]`, `{"a":"[6,7]","a/b":"[7,8]"}`)
	add("clear", "6", "A clear drops the states of all keys.", two().add(kind("clear")), 10, "", `{}`)
	add("key-spelling", "5", "The key of a state is what its JSON string means.",
		opened().stateOf("é", `[1]`).patchOf(`\u00e9`, add1(2), `[1,2]`), 4, "", `{"é":"[1,2]"}`)
	add("vs", "4, 5", "A scope's state under vs.",
		opened().add(keyed("state", "a", `"sum":"`+sum(" 1\n")+`","schema":2`, `"vs":" 1\n"`)), 3, "", `{"a":" 1\n"}`)
	add("refused", "5", "A state that is not there leaves the others.", opened().stateOf("a", `1`).add(keyed("state", "b", `"sum":"`+sum("3")+`"`, `"value":2`)), 4, "", `{"a":"1","b":"refused"}`)
	add("patch-of-another", "5", "The first state of each key must be whole.", opened().state(`[1]`).patchOf("a", add1(2), `[1,2]`), 4, `[1]`, `{"a":"refused"}`)
	add("patch-after-epoch", "5", "The first state after an epoch must be whole.", opened().stateOf("a", `[1]`).epoch("a", 1).patchOf("a", add1(2), `[1,2]`), 5, "", `{"a":"refused"}`)
}
