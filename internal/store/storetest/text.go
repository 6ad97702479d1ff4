package storetest

import (
	"encoding/json"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// hard has texts that stores are known to lose, cut or reject.
var hard = []string{
	"NUL \x00 in the middle", "\x00", "\x1a\x000", "invalid \xff\xfe UTF-8", "half a rune \xe2\x82", "emoji 👩‍👩‍👧",
	"lines \u2028 and \u2029", "<b>&amp;</b>", `back\slash \u0000 'quotes" $1 ? %s`, "\r\n\t\x7f", "\ufeffBOM\ufffd", "",
}

// kept returns a text after a round trip through encoding/json.
func kept(t *testing.T, text string) (back string) {
	t.Helper()
	data, err := json.Marshal(text)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func texts(t *testing.T, s store.Store) {
	for _, text := range hard {
		id, want := NewID(), kept(t, text)
		got := appended(t, s, id, 0,
			event(pawl.SessionCreated{Dir: "/w/" + text}),
			event(pawl.SessionTitled{Title: text}),
			event(pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: text}}, Settings: pawl.Settings{Model: text}}),
			event(pawl.CallFinished{Call: "c", Result: pawl.Result{Content: text, Meta: map[string]string{"k": text}}}))
		read := log(t, s, id, 0)
		equal(t, "the log", read, got)
		equal(t, "title", read[1].Body, pawl.Body(pawl.SessionTitled{Title: want}))
		equal(t, "prompt", read[2].Body.(pawl.Prompted).Parts.Text(), want)
		equal(t, "result", read[3].Body.(pawl.CallFinished).Result, pawl.Result{Content: want, Meta: map[string]string{"k": want}})

		r := row(t, s, id)
		equal(t, "the row", []string{r.Dir, r.Title, r.Prompt, r.Model}, []string{"/w/" + want, want, want, want})
		found, err := s.Sessions(t.Context(), pawl.Filter{Dir: "/w/" + text, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "found by folder", found.Sessions, []pawl.Session{r})

		draft := pawl.Draft{Reply: 3, Text: text, Reasoning: text}
		if err := s.SaveDraft(t.Context(), id, draft); err != nil {
			t.Fatal(err)
		}
		back, err := s.Draft(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "draft", back, pawl.Draft{Reply: 3, Text: want, Reasoning: want})
	}
}
