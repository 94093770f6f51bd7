package journal

// Ask adds a question that waits for an answer: its text is in the record. A question that has an
// answer stays answered.
func (f *Fold) Ask(key string, span Span, digest string, t Trouble) {
	s := f.Step(key, span.Seq)
	if s.Status == StepDone {
		return
	}
	s.Status, s.Final, s.Once, s.Map, s.Tries, s.Took = StepWaiting, false, false, "", 0, 0
	s.Start, s.Seq, s.Offset, s.Len = span, span.Seq, span.Offset, span.Len
	s.SetInput(digest)
	f.SetTrouble(key, true, t)
	f.Begin(key)
}

// Answer adds the answer to a question, whether or not that was asked.
func (f *Fold) Answer(key string, span Span, at int64) {
	s := f.Step(key, span.Seq)
	if s.Status == StepDone {
		return
	}
	s.Status, s.Seq, s.Offset, s.Len, s.At = StepDone, span.Seq, span.Offset, span.Len, at
	s.Tries, s.Took = 0, 0 // nobody tried anything for it
	delete(f.errs, key)
	delete(f.Trouble, key)
}

// Questions returns the keys of the questions that wait for an answer, in no order.
func (f *Fold) Questions() []string {
	var keys []string
	for key, s := range f.Steps {
		if s.Status == StepWaiting {
			keys = append(keys, key)
		}
	}
	return keys
}
