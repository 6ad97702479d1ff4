package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/store"
)

// equateParts: no parts are no parts.
var equateParts = cmpopts.EquateEmpty()

// drafts counts the saves.
type drafts struct {
	store.Store
	saves int
}

func (s *drafts) SaveDraft(ctx context.Context, id pawl.SessionID, d pawl.Draft) error {
	s.saves++
	return s.Store.SaveDraft(ctx, id, d)
}

// The draft grows with the reply, and is written at most four times a second.
func TestContract_R3_DraftGrows(t *testing.T) {
	t.Parallel()
	now := noon
	w := newEnv(t, setup{
		script: []string{`{"reasoning":"abcdefgh","text":"ABCDEFGH","deltas":8}`},
		clock:  func() time.Time { return now },
		store:  func(st store.Store) store.Store { return &drafts{Store: st} },
	})
	w.prompt("go")
	w.model.begins = func(model.Request) {
		if d, err := w.Store.Draft(t.Context(), session); !errors.Is(err, pawl.ErrNotFound) {
			t.Errorf("there is a draft before the reply: %+v, %v", d, err)
		}
		now = now.Add(100 * time.Millisecond) // for the first piece
	}
	var seen []pawl.Draft
	w.model.taken = func(model.Chunk) {
		now = now.Add(100 * time.Millisecond)
		d, err := w.Store.Draft(t.Context(), session)
		if err != nil && !errors.Is(err, pawl.ErrNotFound) {
			t.Error(err)
		}
		if len(seen) == 0 || seen[len(seen)-1] != d {
			seen = append(seen, d)
		}
	}
	w.mustTurn(pawl.ReasonEndTurn)
	const reply = 4
	check(t, []pawl.Draft{
		{},
		{Reply: reply, Reasoning: "abc"},
		{Reply: reply, Reasoning: "abcdef"},
		{Reply: reply, Reasoning: "abcdefgh", Text: "A"},
		{Reply: reply, Reasoning: "abcdefgh", Text: "ABCD"},
		{Reply: reply, Reasoning: "abcdefgh", Text: "ABCDEFG"},
	}, seen)
	check(t, 5, w.Store.(*drafts).saves)
}
