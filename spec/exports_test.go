package spec_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
)

// exported is an export: a journal with a record of kind export behind it.
func (b *book) exported() *book {
	c := b.fork().acked()
	return c.add(kind("export", fmt.Sprintf(`"records":%d,"sha256":"%x"`, c.seq, sha256.Sum256(c.b))))
}

// exportVectors has copies of journals that show that they are whole, and what an import
// makes of one (section 10).
func exportVectors(s *set) {
	const result = `{"ok":true}`
	means := meaning{"complete", 1, `{"a":"done"}`, result, ""}
	whole := taggedFour(uid).complete(result)

	b := whole.exported()
	s.add("export", "10", "An export is a journal; its last record says nothing of the run.", b.b, clean(6, len(b.b), means))

	cut := whole.acked().b
	s.add("export-cut", "10", "An export without its last record: a journal like any other. A reader of exports refuses it.", cut, clean(5, len(cut), means))

	at := bytes.Index(b.b, []byte(`"key":"a"`))
	s.add("export-damaged", "10, 9 rule 2", "A wrong byte in an export, whose last record says that all was durable.", with(b.b, at+1, at+2, 'K'), damaged(2, b.begins[3], 3))

	on := taggedFour(uid).exported().attempt(2)
	s.add("export-gone-on", "10", "A record of kind export that is not the last one means nothing.", on.b,
		clean(6, len(on.b), meaning{"in_progress", 2, `{"a":"done"}`, "", ""}))

	in := tagged(uid)
	in.seq, in.dur, in.prev = whole.seq, whole.seq, whole.prev
	in.add(kind("run", identity(1, "r1", uid, 2)+`,"store":"00ff00ff00ff00ff00ff00ff00ff00ff"`)).acked()
	in.add(kind("attempt", `"was":2,"n":1,"host":"example","pid":4711`)).acked()
	in.add(keyed("start", "a", `"was":3,"try":1`)).acked()
	in.add(keyed("step", "a", `"was":4,"try":1,"us":1200`, `"value":"one"`)).acked()
	in.add(kind("complete", `"was":5,"value":`+result)).acked()
	s.add("import", "10", "What an import makes of that: a new incarnation, whose numbers go on.", in.b, clean(5, len(in.b), means))
}
