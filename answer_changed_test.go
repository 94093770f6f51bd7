package pawl_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlgo/pawl"
)

// Who answers what he has been shown does not answer what is asked by now.
func TestAnswerToAQuestionThatChanged(t *testing.T) {
	s := openStore(t)
	text := "delete 2 files"
	ask := func(ctx context.Context) (bool, error) { return pawl.Await[bool](ctx, "ok", text) }
	_, err := run(t, s, ask)
	wantErr(t, err, pawl.ErrWaiting)
	shown, err := s.Questions(t.Context(), "r")
	ckNil(t, err)
	text = "delete all files"
	_, err = run(t, s, ask)
	wantErr(t, err, pawl.ErrWaiting)
	for range 2 { // also behind a compaction
		err = s.AnswerQuestion(t.Context(), shown[0], true, "ann", "only 2")
		wantErr(t, err, pawl.ErrConflict)
		if !strings.Contains(err.Error(), "changed") || !strings.Contains(err.Error(), "pawl show r") {
			t.Errorf("%v", err)
		}
		ckNil(t, second(s.Compact(t.Context(), "r")))
	}
	_, err = run(t, s, ask)
	wantErr(t, err, pawl.ErrWaiting) // nobody has answered
	shown, err = s.Questions(t.Context(), "r")
	ckNil(t, err)
	if len(shown) != 1 || shown[0].Answered != nil {
		t.Fatalf("%+v", shown)
	}
	ckNil(t, s.AnswerQuestion(t.Context(), shown[0], false, "ann", "certainly not"))
	if v, err := run(t, s, ask); v || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

// Mail that is damaged holds the place of an answer: who answers is told so, and where it lies;
// when it is gone he can.
func TestAnswerBesideDamagedMail(t *testing.T) {
	s := openStore(t)
	ask := func(ctx context.Context) (bool, error) { return pawl.Await[bool](ctx, "ok", "really?") }
	_, err := run(t, s, ask)
	wantErr(t, err, pawl.ErrWaiting)
	ckNil(t, s.Answer(t.Context(), "r", "ok", true, "ann", ""))
	mail, err := filepath.Glob(filepath.Join(filepath.Dir(inspect(t, s).Path), "*.inbox", "*"))
	if len(mail) != 1 || err != nil {
		t.Fatalf("%v, %v", mail, err)
	}
	text, err := os.ReadFile(mail[0])
	ckNil(t, err)
	text[len(text)/2] ^= 1
	ckNil(t, os.WriteFile(mail[0], text, 0o600))
	for range 2 {
		err = s.Answer(t.Context(), "r", "ok", false, "bob", "")
		wantErr(t, err, pawl.ErrCorrupt)
		for _, part := range []string{"nothing was recorded", "remove it", filepath.Base(mail[0])} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not say %q: %v", part, err)
			}
		}
	}
	ckNil(t, os.Remove(mail[0]))
	ckNil(t, s.Answer(t.Context(), "r", "ok", true, "bob", ""))
	if v, err := run(t, s, ask); !v || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}
