package review

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // what a model is asked
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-dev/pawl/internal/plain"
	"github.com/pawl-dev/pawl/internal/weak"
)

// Finding is something that is wrong with a change, at a place of it.
type Finding struct {
	Path       string   `json:"path"`
	StartLine  int      `json:"start_line"` // in the new file; 0 is the file as a whole
	EndLine    int      `json:"end_line"`
	Severity   Severity `json:"severity"`
	Rule       string   `json:"rule"`
	Title      string   `json:"title"`
	Message    string   `json:"message"`
	Suggestion string   `json:"suggestion,omitempty"`

	Fingerprint string `json:"fingerprint,omitempty"` // the same for the same finding in a later review
}

// Severity says how much a finding matters.
type Severity string

// The severities, from the least.
const (
	Note    Severity = "note"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Severities are all of them, from the least.
var Severities = []Severity{Note, Warning, Error}

// AtLeast reports whether a severity is as bad as another, or worse.
func (s Severity) AtLeast(other Severity) bool {
	return slices.Index(Severities, s) >= slices.Index(Severities, other)
}

// rule is a kind of finding. Rules are few and fixed, so that a finding keeps its
// name from one review to the next.
type rule struct{ id, about string }

// notReviewed is the rule of what pawl itself says about files that are left out.
const notReviewed = "not-reviewed"

var rules = []rule{
	{"correctness", "It does not do what it should."},
	{"security", "It can be abused, or lets a secret out."},
	{"data-loss", "Data can be lost or damaged."},
	{"concurrency", "It goes wrong when things happen at once."},
	{"errors", "A failure is passed over, or told wrongly."},
	{"performance", "It takes more time or space than it should."},
	{"compatibility", "It breaks those who rely on how it was."},
	{"tests", "What it does is not tested, or the test cannot fail."},
	{"docs", "What is written about it is wrong or missing."},
	{"maintainability", "It will be hard to understand or change."},
	{notReviewed, "The file was left out of the review."},
}

// Bounds of what a model may write.
const (
	MaxFindings = 200
	maxTitle    = 200 // characters
	maxMessage  = 4000
)

// Answer is what a model finds.
type Answer struct {
	Summary  string    `json:"summary"`
	Findings []Finding `json:"findings"`
}

// Schema is what an answer must be. It asks for at most so many findings; more are
// no fault of the answer, and Check leaves out the least of them.
func Schema(most int) *jsonschema.Schema {
	text := func(about string, most int) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Description: about, MaxLength: &most}
	}
	word := func(about string, values ...any) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Description: about, Enum: values}
	}
	first, bound := 1.0, MaxFindings
	line := func(about string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "integer", Description: about, Minimum: &first}
	}
	var ids, severities []any
	var abouts []string
	for _, r := range rules {
		if r.id != notReviewed {
			ids, abouts = append(ids, r.id), append(abouts, r.id+": "+r.about)
		}
	}
	for _, s := range Severities {
		severities = append(severities, string(s))
	}
	closed := func(s *jsonschema.Schema) *jsonschema.Schema {
		s.Type, s.AdditionalProperties = "object", &jsonschema.Schema{Not: &jsonschema.Schema{}}
		return s
	}
	finding := closed(&jsonschema.Schema{
		Required: []string{"path", "start_line", "end_line", "severity", "rule", "title", "message"},
		Properties: map[string]*jsonschema.Schema{
			"path": text("the file, as the change spells it", maxMessage), "start_line": line("its first line in the new file"), "end_line": line("its last line in the new file"),
			"severity": word("how much it matters", severities...), "rule": word(strings.Join(abouts, " "), ids...),
			"title": text("what is wrong, in a few words", maxTitle), "message": text("why, and when it goes wrong", maxMessage),
			"suggestion": text("what to do instead; may be left out", maxMessage),
		},
	})
	return closed(&jsonschema.Schema{
		Required: []string{"summary", "findings"},
		Properties: map[string]*jsonschema.Schema{
			"summary":  text("what the change does and how good it is, in two sentences", maxMessage),
			"findings": {Type: "array", Items: finding, MaxItems: &bound, Description: fmt.Sprintf("at most %d, the worst first; empty if nothing is wrong", most)},
		},
	})
}

//go:embed ask.md
var ask string

// Ask is what a model is asked about a change. fence marks text from outside as
// data; note is a word on the folder, or "".
func Ask(shown []File, left []Left, note string, fence func(source, text string) string) string {
	var change, names strings.Builder
	for _, f := range shown {
		change.WriteString(f.Show() + "\n")
	}
	for i, l := range left {
		if i == maxNamed {
			fmt.Fprintf(&names, "and %d more\n", len(left)-i)
			break
		}
		fmt.Fprintf(&names, "%s: %s\n", plain.Line(l.Path), l.Why)
	}
	text := ask
	if note != "" {
		text += "\n" + note + "\n"
	}
	text += "\n" + fence("the change", change.String())
	if names.Len() > 0 {
		text += "\n\nThese files of the change are not shown. Findings about them do not count.\n" + fence("files that are not shown", names.String())
	}
	return text
}

// Dropped counts the findings that do not count, and those that count for less.
type Dropped struct {
	Outside int `json:"outside"` // about no place of the change
	Lowered int `json:"lowered"` // about lines beside those that change: made a note
	Twice   int `json:"twice"`
	Beyond  int `json:"beyond"` // more than were asked for, the least first
}

// Check returns what counts of a model's findings, the worst first, and at most
// so many. A model can be wrong about places, or be talked into it: what is about
// no place of the change is dropped, and what is beside the changed lines is no
// more than a note.
func Check(found []Finding, shown []File, most int) ([]Finding, Dropped) {
	files := map[string]File{}
	for _, f := range shown {
		files[f.Path] = f
	}
	var d Dropped
	kept, seen := []Finding{}, map[string]bool{}
	for _, f := range found {
		file, ok := files[f.Path]
		if ok && !weak.On("review.lines") {
			ok = f.place(file, &d)
		}
		if !ok {
			d.Outside++
			continue
		}
		f.Fingerprint = fingerprint(f, file)
		same := fmt.Sprint(f.Fingerprint, f.StartLine, f.EndLine, f.Title)
		if seen[same] {
			d.Twice++
			continue
		}
		seen[same] = true
		kept = append(kept, f)
	}
	sortFindings(kept)
	if len(kept) > most {
		d.Beyond = len(kept) - most
		kept = kept[:most]
	}
	number(kept)
	return kept, d
}

// place puts a finding where the change is, and reports whether it can.
func (f *Finding) place(file File, d *Dropped) bool {
	if !slices.ContainsFunc(file.Hunks, func(h Hunk) bool { return h.Lines > 0 }) {
		f.StartLine, f.EndLine = 0, 0 // it was deleted, or only moved
		return true
	}
	f.EndLine = max(f.EndLine, f.StartLine)
	for _, h := range file.Hunks {
		last := h.Start + h.Lines - 1
		if f.StartLine > last || f.EndLine < h.Start {
			continue
		}
		start, end := max(f.StartLine, h.Start), min(f.EndLine, last)
		if h.touches(start, end) {
			f.StartLine, f.EndLine = start, end
			return true
		}
	}
	for _, h := range file.Hunks { // none of its lines changes: is it near one that does?
		if last := h.Start + h.Lines - 1; f.StartLine >= h.Start && f.StartLine <= last {
			f.EndLine = min(f.EndLine, last)
			if f.Severity != Note {
				f.Severity = Note
				d.Lowered++
			}
			return true
		}
	}
	return false
}

// touches reports whether one of the lines has changed. Where lines were taken
// away and none came, that is the one before and the one after.
func (h Hunk) touches(start, end int) bool {
	line, gone, came := h.Start, false, false
	gap := func() bool { return gone && !came && line-1 <= end && line >= start }
	for _, r := range h.Rows {
		switch r.Kind {
		case '-':
			gone = true
			continue
		case '+':
			if came = true; r.Line >= start && r.Line <= end {
				return true
			}
		default:
			if gap() {
				return true
			}
			gone, came = false, false
		}
		line = r.Line + 1
	}
	return gap()
}

// LeftOut makes findings of the files that were left out, so that nobody takes
// them for reviewed: a gate can stop at them.
func LeftOut(left []Left) []Finding {
	found := []Finding{}
	for _, l := range left {
		f := Finding{Path: l.Path, Severity: Warning, Rule: notReviewed, Title: "Not reviewed", Message: "This file was left out of the review: " + l.Why + "."}
		if l.Why == whyBinary {
			f.Severity = Note
		}
		f.Fingerprint = fingerprint(f, File{})
		found = append(found, f)
	}
	number(found)
	return found
}

func sortFindings(list []Finding) {
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(-cmp.Compare(slices.Index(Severities, a.Severity), slices.Index(Severities, b.Severity)),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(a.Rule, b.Rule))
	})
}

// fingerprint names a finding by its rule, its file and the text of its first
// line. Neither the line's number nor the model's words are in it: both change
// from one review to the next.
func fingerprint(f Finding, file File) string {
	row, _ := file.row(f.StartLine)
	text, _ := json.Marshal([]string{f.Rule, f.Path, strings.Join(strings.Fields(row.Text), " ")}) // strings can always be written
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// number tells findings apart that have the same fingerprint, in their order.
func number(list []Finding) {
	seen := map[string]int{}
	for i := range list {
		print := list[i].Fingerprint
		seen[print]++
		list[i].Fingerprint = fmt.Sprintf("%s:%d", print, seen[print])
	}
}
