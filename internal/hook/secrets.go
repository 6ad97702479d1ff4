package hook

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// SecretScanner returns a hook that masks credentials in results before the
// model or anyone else sees them. Content that cannot be scanned is withheld.
func SecretScanner(mask func(text string) string) Hook {
	h := Hook{Name: "secret-scanner", Priority: PriorityGuard, Points: []Point{ToolAfter}}
	if mask != nil {
		h.Run = func(_ context.Context, e Event) (o Outcome, _ error) {
			defer func() {
				if v := recover(); v != nil {
					withheld := toolapi.ErrorResult("The result is withheld: it could not be searched for secrets.")
					o = Outcome{Result: &withheld, Faults: []Fault{{"secret-scanner", fmt.Sprintf("a result of %s was withheld: %v", e.Tool, v)}}}
				}
			}()
			result, found := masked(e.Result, mask)
			if !found {
				return Outcome{}, nil
			}
			return Outcome{Result: &result, Messages: []string{"secrets were masked in the result of " + e.Tool}}, nil
		}
	}
	return h
}

// masked returns a result with secrets masked, and whether there were any.
func masked(r pawl.Result, mask func(string) string) (_ pawl.Result, found bool) {
	clean := func(text string) string {
		masked := mask(text)
		found = found || masked != text
		return masked
	}
	r.Content = clean(r.Content)
	r.Meta = maps.Clone(r.Meta)
	for key, value := range r.Meta {
		r.Meta[key] = clean(value)
	}
	r.Changed, r.Refused = slices.Clone(r.Changed), slices.Clone(r.Refused)
	for _, texts := range [][]string{r.Changed, r.Refused} {
		for i, text := range texts {
			texts[i] = clean(text)
		}
	}
	display := make(pawl.Parts, len(r.Display))
	for i, part := range r.Display {
		switch p := part.(type) {
		case pawl.Text:
			part = pawl.Text{Text: clean(p.Text)}
		case pawl.Patch:
			part = pawl.Patch{Path: p.Path, Diff: clean(p.Diff)}
		default: // other parts are not shown
		}
		display[i] = part
	}
	if r.Display != nil {
		r.Display = display
	}
	return r, found
}
