// Package journal reads pawl's journals: one file per run, a line of JSON per
// record, described in spec/journal-v1.md. It scans, verifies and folds; it never
// writes, so it is safe beside a live owner.
//
//	sc := journal.NewScanner(f, size)
//	for sc.Scan() {
//		rec := sc.Record()
//		fmt.Println(rec.Seq, rec.Kind, rec.Key)
//	}
//	if err := sc.Err(); err != nil { … }   // errors.Is(err, journal.ErrCorrupt)
//	tail := sc.Tail()                      // what a crash left behind, if anything
//
// [Fold] turns the records into what they mean: status, steps, attempts, result.
package journal
