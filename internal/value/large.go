package value

import (
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json"
)

// large is how long a text is, in bytes, that is worth the trouble below.
const large = 64 << 10

// marshal is json.Marshal, which begins with a small buffer, lets it grow and returns a
// copy: half the time that a large value takes. One will be about as long as the last one
// of its type was, as a state is, so it is written where it stays.
func (p *plan) marshal(v any, opts json.Options) ([]byte, error) {
	last := int(p.size.Load())
	if last < large {
		text, err := json.Marshal(v, opts)
		p.size.Store(int64(len(text)))
		return text, err
	}
	// Of all buffers this is the one that does not begin with writing zeros.
	var b strings.Builder
	b.Grow(last + last/16)
	if err := json.MarshalWrite(&b, v, opts); err != nil {
		return nil, err
	}
	p.size.Store(int64(b.Len()))
	text := b.String() // which nobody else has, so that its bytes are ours
	if len(text) < last/2 {
		return []byte(text), nil // must not hold on to so much more than it has
	}
	return unsafe.Slice(unsafe.StringData(text), len(text)), nil
}
