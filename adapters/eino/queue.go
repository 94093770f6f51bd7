package eino

import (
	"sync"

	"github.com/cloudwego/eino/schema"
)

// queue is between a step and the reader of its stream, so that neither waits for the other. It has
// no bound, since the step keeps all chunks anyway.
type queue[C any] struct {
	mu    sync.Mutex
	more  sync.Cond
	items []item[C]
	ended bool
	gone  bool // the reader
}

type item[C any] struct {
	chunk C
	err   error
}

func newQueue[C any]() *queue[C] {
	q := &queue[C]{}
	q.more.L = &q.mu
	return q
}

func (q *queue[C]) put(c C, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.gone {
		q.items = append(q.items, item[C]{c, err})
		q.more.Signal()
	}
}

// close says that nothing more is put.
func (q *queue[C]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.more.Signal()
}

// pump hands everything to the writer until the queue is closed or the reader is gone. A reader that
// neither reads nor closes holds it up, as it does with every stream of eino.
func (q *queue[C]) pump(to *schema.StreamWriter[C]) {
	defer to.Close()
	for {
		q.mu.Lock()
		for len(q.items) == 0 && !q.ended {
			q.more.Wait()
		}
		items := q.items
		q.items = nil
		q.mu.Unlock()
		if len(items) == 0 {
			return
		}
		for _, it := range items {
			if closed := to.Send(it.chunk, it.err); closed {
				q.mu.Lock()
				q.gone, q.items = true, nil
				q.mu.Unlock()
				return
			}
		}
	}
}
