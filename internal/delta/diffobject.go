package delta

import "bytes"

// object writes what turns the object at p into the object at q. It returns the
// offsets behind them, and false if the object has to be replaced.
func (d *differ) object(p, q, depth int) (end [2]int, exact bool) {
	b := d.budget(q)
	p, q = p+1, q+1
	if p >= len(d.old) || q >= len(d.new) {
		return malformed, false
	}
	for more := true; more; {
		v := skipName(d.old, p)
		if v < 0 || !bytes.HasPrefix(d.new[q:], d.old[p:v]) {
			break // an end, another name, or damage: rest finds out
		}
		var moreOld, moreNew bool
		p, q = d.member(d.old[p+1:v-2], v, q+v-p, depth)
		p, moreOld = next(d.old, p)
		q, moreNew = next(d.new, q)
		if p < 0 || q < 0 {
			return malformed, false
		}
		more = moreOld && moreNew
		if d.exceeded(&b, q) {
			return [2]int{skipRest(d.old, p), skipRest(d.new, q)}, false
		}
	}
	if closes(d.old[p]) && closes(d.new[q]) {
		return [2]int{p + 1, q + 1}, true
	}
	r, ok := d.rest(p, q, true)
	if !ok {
		return malformed, false
	}
	d.removeMembers(r)
	return r.end(), d.restOfObject(r, depth)
}

// member writes what turns the value at p of the member called name into the
// value at q.
func (d *differ) member(name []byte, p, q, depth int) (int, int) {
	if p >= len(d.old) || q >= len(d.new) {
		return -1, -1
	}
	if depth >= lockstepDepth || d.old[p] != d.new[q] || !container(d.old[p]) {
		end := skipValue(d.old, p)
		if end < 0 {
			return -1, -1
		}
		if d.equal(p, end, q) {
			return end, q + end - p
		}
	}
	return d.child(name, p, q, depth)
}

// removeMembers writes the removal of the old members without a counterpart.
// This comes before anything is added: a member that changed places is one of
// them, and a name can be there only once.
func (d *differ) removeMembers(r *rest) {
	n := len(d.path)
	for i, j := 0, 0; i < r.old.len(); i++ {
		for j < len(r.match) && (r.match[j] == none || int(r.match[j]) < i) {
			j++
		}
		if j == len(r.match) || int(r.match[j]) > i {
			d.path, _ = appendSegment(d.path, r.old.name(i))
			d.write("remove", nil, nil)
			d.path = d.path[:n]
		}
	}
}

// restOfObject writes the other operations for the members matched in r. It
// reports false if the object has to be replaced.
func (d *differ) restOfObject(r *rest, depth int) bool {
	for j := 0; j < len(r.match); j++ {
		if m := r.match[j]; m != none {
			if i := int(m); !bytes.Equal(r.old.item(i), r.new.item(j)) {
				name := r.new.name(j)
				value := len(name) + len(`"":`)
				d.child(name, int(r.old.at[i])+value, int(r.new.at[j])+value, depth)
			}
			continue
		}
		end := j // of the members that are added in one place
		for end < len(r.match) && r.match[end] == none {
			end++
		}
		var before []byte
		if end < len(r.match) {
			before = r.new.name(end)
		}
		for ; j < end; j++ {
			if !d.addMember(r.new.name(j), r.new.item(j), before) {
				return false
			}
		}
		j--
	}
	return true
}

// addMember writes the operation that adds a member in front of the one called
// before, or at the end if there is none. It reports false if no path spells
// the name as the text does.
func (d *differ) addMember(name, member, before []byte) bool {
	n := len(d.path)
	path, exact := appendSegment(d.path, name)
	d.path = path
	d.write("add", member[len(name)+len(`"":`):], before)
	d.path = d.path[:n]
	return exact
}
