package agent

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
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

// The draft grows with the reply, is saved at most four times a second, and has all
// that was received while the model pauses.
func TestContract_R3_DraftGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newEnv(t, setup{
			script: []string{`{"reasoning":"abcdefgh","text":"ABCDEFGH","deltas":8}`},
			store:  func(st store.Store) store.Store { return &drafts{Store: st} },
		})
		w.prompt("go")
		w.model.begins = func(model.Request) {
			if d, err := w.Store.Draft(t.Context(), session); !errors.Is(err, pawl.ErrNotFound) {
				t.Errorf("there is a draft before the reply: %+v, %v", d, err)
			}
			time.Sleep(50 * time.Millisecond) // so that no piece arrives when a draft is due
		}
		var seen []pawl.Draft
		pause := func(d time.Duration) {
			time.Sleep(d)
			synctest.Wait()
			draft, err := w.Store.Draft(t.Context(), session)
			if err != nil && !errors.Is(err, pawl.ErrNotFound) {
				t.Error(err)
			}
			if len(seen) == 0 || seen[len(seen)-1] != draft {
				seen = append(seen, draft)
			}
		}
		w.model.taken = func(c model.Chunk) {
			pause(100 * time.Millisecond)
			if c.Text == "H" {
				pause(time.Minute)
			}
		}
		w.mustTurn(pawl.ReasonEndTurn)
		const reply = 4
		check(t, []pawl.Draft{
			{},
			{Reply: reply, Reasoning: "ab"},
			{Reply: reply, Reasoning: "abcde"},
			{Reply: reply, Reasoning: "abcdefg"},
			{Reply: reply, Reasoning: "abcdefgh", Text: "AB"},
			{Reply: reply, Reasoning: "abcdefgh", Text: "ABCD"},
			{Reply: reply, Reasoning: "abcdefgh", Text: "ABCDEFG"},
			{Reply: reply, Reasoning: "abcdefgh", Text: "ABCDEFGH"},
		}, seen)
		check(t, 7, w.Store.(*drafts).saves)
	})
}
