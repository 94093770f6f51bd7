package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pawlgo/pawl"
	"github.com/pawlgo/pawl/runs"
)

// planFile looks for a version that a damaged checkpoint file can go back to.
func (m *mending) planFile(ctx context.Context) {
	if m.t.info.Err == nil {
		m.sound(ctx)
		return
	}
	path := m.t.info.Path
	info, err := pawl.InspectFile(path) // takes no lock and leaves none
	switch {
	case err == nil:
		err = errMended
	case info.Owner != nil:
		m.t.info.Owner = info.Owner
		m.refuse(statusOwned, m.t.owned())
		return
	}
	if !errors.Is(err, pawl.ErrCorrupt) {
		m.fail(err)
		return
	}
	hint := ""
	if re, ok := errors.AsType[*pawl.RunError](err); ok {
		hint = re.Hint
	}
	all, err := versionsOf(path)
	if err != nil {
		m.fail(err)
		return
	}
	v, err := newestGood(all)
	refuse := func(why, hint string) {
		m.refuse(statusDamaged, &problem{
			err: m.t.info.Err, told: true, hint: hint,
			msg: fmt.Sprintf("%s cannot be repaired: %s: %s", cell(m.t.name), why, placeOf(m.t.info.Err)),
		})
	}
	switch {
	case err != nil:
		m.fail(err)
	case v == nil && len(all) > 0:
		refuse(fmt.Sprintf("none of its %d older versions is good", len(all)), hint)
	case v == nil:
		refuse("there is no older version of it (pawl.KeepVersions keeps some)", hint)
	case v.info.Status == runs.Complete:
		// Nothing can be saved behind a result, and it is a save that sets aside.
		refuse(fmt.Sprintf("its newest good version, %d, holds a result, and this command cannot put one in place", v.generation),
			fmt.Sprintf("nothing was changed; to go back to it: mv -n %s %s && cp -n %s %s", quoteArg(path), quoteArg(path+".damaged"), quoteArg(v.path), quoteArg(path)))
	default:
		m.view.Status = statusRepairable
		m.view.Version = &keptJSON{v.path, v.generation, jsonTime(v.info.Updated)}
		// What else the library has to say. Its advice how to go back is for those
		// who do not have this command.
		hint, _, _ = strings.Cut(strings.TrimPrefix(hint, "nothing was changed; "), "to go back to")
		m.note = strings.TrimSuffix(hint, "; ")
		m.do = func(context.Context) error { return m.mendFile(path, v) }
	}
}

var errMended = &problem{exit: exitConflict, code: "conflict", msg: "it is not damaged any more", hint: "somebody else has mended it"}

// mendFile does what a program with pawl.FallBack does: it opens, which goes back to
// the version, and saves, which sets the damaged file aside.
func (m *mending) mendFile(path string, v *version) error {
	damaged, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	schema, err := v.schema()
	if err != nil {
		return err
	}
	var rec pawl.Recovery
	ck, err := pawl.OpenFile[json.RawMessage](path, append(atSchema(schema), pawl.FallBack(func(r pawl.Recovery) { rec = r }))...)
	if err != nil {
		return err
	}
	if rec.Path == "" {
		return cmp.Or(ck.Close(), error(errMended))
	}
	m.view.Version.Path, m.view.Version.Generation = rec.From, rec.Generation
	if err := errors.Join(ck.Save(ck.State()), ck.Close()); err != nil {
		return err
	}
	original, err := setAside(path, damaged)
	m.view.Original = &original
	return err
}

// setAside finds the name under which the damaged file is kept: another one than
// usual if that was taken.
func setAside(path string, damaged []byte) (string, error) {
	for k := 0; ; k++ {
		name := path + ".damaged"
		if k > 0 {
			name = fmt.Sprint(name, "~", k)
		}
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("the damaged file is not found beside it: %w", err)
		}
		if err == nil && bytes.Equal(text, damaged) {
			return name, nil
		}
	}
}
