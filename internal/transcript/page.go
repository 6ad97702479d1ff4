package transcript

import (
	"slices"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
)

// Limits of an item in a page, in bytes.
const (
	maxMessage = 16 << 10 // of the text of a prompt or reply
	maxText    = 8 << 10  // of a note, a diff or other text
	maxResult  = 2 << 10  // of the input or the result of a call
)

// Page returns the last limit items before the one with an ID, or of all if it is "", shortened to a few kilobytes each,
// and whether there are older ones. ok is false if there is no item with that ID.
func Page(items []Item, before string, limit int) (page []Item, more, ok bool) {
	end := len(items)
	if before != "" {
		if end = slices.IndexFunc(items, func(it Item) bool { return it.ID == before }); end < 0 {
			return nil, false, false
		}
	}
	start := max(0, end-limit)
	page = make([]Item, 0, end-start)
	for _, it := range items[start:end] {
		page = append(page, it.short())
	}
	return page, start > 0, true
}

// short returns the item without the content of files and with long texts cut.
func (it Item) short() Item {
	limit := maxText
	if it.Kind == KindText || it.Kind == KindUser {
		limit = maxMessage
	}
	it.Text, it.More = it.cut(it.Text, limit), it.cut(it.More, maxText)
	it.Files = it.names(it.Files)
	if it.Ask != nil {
		ask := *it.Ask
		ask.Text, ask.Diff, ask.Command = it.cut(ask.Text, maxText), it.cut(ask.Diff, maxText), it.cut(ask.Command, maxText)
		it.Ask = &ask
	}
	if it.Call == nil {
		return it
	}
	call := *it.Call
	if len(call.Input) > maxResult {
		call.Input, it.Cut = nil, true
	}
	call.Targets = slices.Clone(call.Targets)
	for i, target := range call.Targets {
		call.Targets[i] = it.cut(target, maxResult)
	}
	call.Result = it.shortResult(call.Result)
	it.Call = &call
	return it
}

func (it *Item) shortResult(r pawl.Result) pawl.Result {
	r.Content, r.Files, r.Seen = it.cut(r.Content, maxResult), it.names(r.Files), nil
	display := r.Display
	r.Display = nil
	for _, p := range display {
		switch p := p.(type) {
		case pawl.Patch:
			p.Diff = it.cut(p.Diff, maxText)
			r.Display = append(r.Display, p)
		case pawl.Text:
			p.Text = it.cut(p.Text, maxText)
			r.Display = append(r.Display, p)
		case pawl.Reasoning, pawl.ToolCall, pawl.ToolResult, pawl.File: // not shown
			it.Cut = true
		}
	}
	return r
}

// names returns files without their content.
func (it *Item) names(files []pawl.File) []pawl.File {
	var list []pawl.File
	for _, f := range files {
		f.Data = []byte{}
		list = append(list, f)
		it.Cut = true
	}
	return list
}

// cut returns the beginning of a text.
func (it *Item) cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	it.Cut = true
	return s[:limit]
}
