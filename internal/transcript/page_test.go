package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
)

// TestPage checks that the pages of a transcript are its items, from the end.
func TestPage(t *testing.T) {
	t.Parallel()
	tr := New()
	for i := range 25 {
		tr.Apply(pawl.Event{Seq: pawl.Seq(i + 1), Body: pawl.ModeChanged{Mode: fmt.Sprint(i)}})
	}
	items := tr.Items()
	var ids []string
	for before, more := "", true; more; {
		var page []Item
		var ok bool
		if page, more, ok = Page(items, before, 10); !ok || len(page) == 0 {
			t.Fatalf("before %q: %d items, %v", before, len(page), ok)
		}
		before = page[0].ID
		for i := len(page) - 1; i >= 0; i-- {
			ids = append(ids, page[i].ID)
		}
	}
	if len(ids) != 25 || ids[0] != "note_25" || ids[24] != "note_1" {
		t.Errorf("%q", ids)
	}
	if _, _, ok := Page(items, "none", 10); ok {
		t.Error("an unknown item was found")
	}
}

// TestShort checks that the items of a page are small, and that the transcript keeps the whole ones.
func TestShort(t *testing.T) {
	t.Parallel()
	long, data := "x"+strings.Repeat("é", 1<<20), make([]byte, 1<<20)
	input, _ := json.Marshal(long) // a string cannot fail
	file := pawl.File{Name: "f", Data: data}
	tr := New()
	for i, b := range []pawl.Body{
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: long}, file}},
		pawl.Replied{Parts: pawl.Parts{pawl.Text{Text: long}, pawl.ToolCall{ID: "c", Name: "edit", Input: input}}},
		pawl.CallStarted{Call: "c", Tool: "edit", Access: []pawl.Access{{Target: long}}},
		pawl.Asked{Call: "c", Ask: pawl.Ask{Text: long}},
		pawl.CallFinished{Call: "c", Result: pawl.Result{Content: long, Files: []pawl.File{file}, Display: pawl.Parts{pawl.Patch{Path: "a", Diff: long}, pawl.Text{Text: long}, file}}},
		pawl.Compacted{Keep: 1, Text: long},
	} {
		tr.Apply(pawl.Event{Seq: pawl.Seq(i + 1), Body: b})
	}
	items := tr.Items()
	whole, _ := json.Marshal(items) // they were decoded from JSON
	page, _, _ := Page(items, "", 10)
	for _, it := range page {
		text, err := json.Marshal(it)
		if err != nil || len(text) > 30<<10 || !it.Cut || !utf8.ValidString(it.Text) {
			t.Errorf("%s: %d bytes, cut %v, %v", it.ID, len(text), it.Cut, err)
		}
	}
	if after, _ := json.Marshal(items); string(after) != string(whole) {
		t.Error("the items of the transcript have changed")
	}
}
