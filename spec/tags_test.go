package spec_test

import "strings"

const otherUID = "fedcba9876543210fedcba9876543210"

// tagged is a book whose lines say which run they are of (section 2).
func tagged(uid string) *book {
	b := newBook()
	b.tag = `,"run":"` + uid[:8] + `"`
	return b
}

// taggedFour is the journal four with tags: one acknowledged step.
func taggedFour(u string) *book {
	return tagged(u).add(kind("run", identity(1, "r1", u, 1))).acked().attempt(1).done("a", `"one"`)
}

// retagged goes on with other tags.
func (b *book) retagged(tag string) *book {
	c := b.fork()
	c.tag = tag
	return c
}

// tagVectors has lines that end with the beginning of their run's UID.
func tagVectors(s *set) {
	b := taggedFour(uid)
	s.add("tag", "2", "Every line ends with the beginning of its run's UID, behind the value.", b.b, clean(4, len(b.b), fourMeans))

	c := b.fork().step("raw", `{"run":"fedcba98"}`)
	s.add("tag-in-value", "2", "A member of the value that looks like a tag is a part of the value.", c.b,
		clean(5, len(c.b), meaning{"in_progress", 1, `{"a":"done","raw":"done"}`, "", ""}))

	p := taggedFour(uid)
	for n := 0; ; n++ { // a record whose LF would be at a multiple of 512
		q := p.fork().complete(`"` + strings.Repeat("o", n) + `"`)
		if strings.Contains(string(q.record(5)), `"pad":""`) {
			s.add("tag-behind-padding", "7 rule 6", "Padding stands in front of the tag, and neither is a part of the value.", q.b,
				clean(5, len(q.b), meaning{"complete", 1, `{"a":"done"}`, `"` + strings.Repeat("o", n) + `"`, ""}))
			break
		}
	}

	u := four().retagged(`,"run":"fedcba98"`).complete(`1`)
	s.add("tag-means-nothing", "2", "The first record has no tag, so that those of others mean nothing.", u.b,
		clean(5, len(u.b), meaning{"complete", 1, `{"a":"done"}`, "1", ""}))

	f := tagged(otherUID).add(kind("run", identity(1, "r1", uid, 1))).acked().attempt(1)
	s.add("tag-first", "3", "The tag of the first record is not the beginning of its own UID.", f.b, headless())

	for _, t := range [][2]string{{"other", `,"run":"fedcba98"`}, {"missing", ""}, {"capital", `,"run":"0123456F"`}, {"longer", `,"run":"0123456789"`}} {
		name, tag := t[0], t[1]
		w := taggedFour(uid)
		end := len(w.b)
		w = w.retagged(tag).complete(`1`).acked()
		w = w.retagged(b.tag).attempt(2)
		s.add("tag-"+name, "3", "A record that continues the one before it, and has not the tag of the first one ("+name+").", w.b, damaged(4, end, 5))
	}

	two := taggedFour(uid)
	at := len(two.b)
	two.add(kind("run", identity(1, "r1", uid, 2))).acked().attempt(2)
	s.add("second-first-record", "3", "A first record that continues the one before it: a journal and the one that replaced it in one file.", two.b, damaged(4, at, 5))

	// What follows a line that is torn by its looks: the file ends inside a record but
	// for a line that says more was durable.
	half := taggedFour(uid).step("b", `"`+strings.Repeat("o", 900)+`"`)
	end := half.begins[5]
	hole := with(half.b, 512*2, 512*3, 0)
	witness := half.fork().acked().start("c").record(6)
	s.add("tag-claim", "9 rule 2", "A line of the run says that more was durable than what is there.", file(hole, witness), damaged(4, end, 5))
	foreign := taggedFour(otherUID).step("b", `"x"`).acked().start("c").record(6)
	s.add("tag-foreign-claim", "9 rule 2", "A line of another run says so: it says nothing of this one.", file(hole, foreign),
		torn(4, end, len(hole)+len(foreign), fourMeans))
}
