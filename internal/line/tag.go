package line

import "bytes"

// A line may end in the member run, which names its run by the first eight digits of the
// run's UID. Lines of one run are linked by prev; where some of them are missing, the
// tag tells the run's own from those of another.
const (
	tagBefore = `,"run":"`
	tagAfter  = `"}`
	tagDigits = 8
)

// Ends returns how the lines of a run end: what stands in the place of a body's closing
// brace, and the same with padding, which makes a line some bytes longer and means
// nothing. A UID that does not begin with eight small hexadecimal digits gives no tag.
func Ends(uid string) (plain, padded []byte) {
	plain = []byte("}")
	if len(uid) >= tagDigits && isHex(uid[:tagDigits]) {
		plain = []byte(tagBefore + uid[:tagDigits] + tagAfter)
	}
	return plain, append([]byte(`,"pad":""`), plain...)
}

// Tag returns the tag of a line, nil if it has none.
func Tag(text []byte) []byte {
	const size = len(tagBefore) + tagDigits + len(tagAfter)
	if len(text) < size {
		return nil
	}
	end := text[len(text)-size:]
	if !bytes.HasPrefix(end, []byte(tagBefore)) || !bytes.HasSuffix(end, []byte(tagAfter)) {
		return nil
	}
	tag := end[len(tagBefore) : len(tagBefore)+tagDigits]
	if !isHex(string(tag)) {
		return nil
	}
	return tag
}

func isHex(s string) bool {
	for i := range len(s) {
		if hexValue[s[i]] > 15 {
			return false
		}
	}
	return true
}

// UID returns the uid member of the body of a first record, "" if it has none.
func UID(body []byte) string {
	v := Member(body, 0, "uid")
	if len(v) < 2 {
		return ""
	}
	return string(v[1 : len(v)-1])
}
