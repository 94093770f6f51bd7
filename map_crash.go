package pawl

import (
	"fmt"
	"runtime"
	"strings"
)

// mapCrash is the panic or Goexit of an item. It is what Map panics with, so that
// the stack of the goroutine that is gone is printed with it.
type mapCrash struct {
	key   string
	value any // nil for Goexit
	text  string
}

// mapCrash is what Redact lets be shown of a panic.
func (r *Run) mapCrash(key string, p any, stack []byte) *mapCrash {
	c := &mapCrash{key: key, value: p}
	defer func() {
		if recover() != nil { // of the value's own methods, or of Redact
			c.text = fmt.Sprintf("panic in pawl.Map item %q with a %T", key, p)
		}
	}()
	head := strings.TrimPrefix((&crashError{value: p}).headline(), "panic: ")
	c.text = fmt.Sprintf("panic in pawl.Map item %q: %s\n\n%s", key, bounded(r.hide(head)), r.hide(string(stack)))
	return c
}

func (c *mapCrash) raise() {
	if c.value == nil {
		runtime.Goexit()
	}
	panic(c)
}

func (c *mapCrash) Error() string { return c.text }

// Unwrap returns the panic's value if that is an error.
func (c *mapCrash) Unwrap() error {
	err, _ := c.value.(error)
	return err
}
