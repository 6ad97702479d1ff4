package review

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/weak"
)

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
		files[sanitize.Line(f.Path)] = f // as the model was shown it
	}
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
		f.Path = file.Path
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

// media finds names of pictures and fonts.
var media = regexp.MustCompile(`(?i)\.(png|jpe?g|gif|webp|ico|woff2?|ttf|otf)$`)

// LeftOut makes findings of the files that were left out, so that nobody takes
// them for reviewed: a gate can stop at them. Pictures and fonts are a note. A
// script with a zero byte in it is no text either, and can be run.
func LeftOut(left []Left) []Finding {
	found := []Finding{}
	for _, l := range left {
		f := Finding{Path: l.Path, Severity: Warning, Rule: notReviewed, Title: "Not reviewed", Message: "This file was left out of the review: " + l.Why + "."}
		if l.Why == whyBinary && media.MatchString(l.Path) {
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
