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
)

// Dropped counts the findings that were dropped or downgraded.
type Dropped struct {
	Outside int `json:"outside"` // outside of the change
	Lowered int `json:"lowered"` // beside the changed lines: downgraded to a note
	Twice   int `json:"twice"`
	Beyond  int `json:"beyond"` // more than the maximum, least severe first
}

// Check returns the valid findings of a model, worst first, and at most the given number. A model can be wrong
// about locations, or be manipulated: findings outside of the change are dropped, and those beside the changed
// lines become notes.
func Check(found []Finding, shown []File, most int) ([]Finding, Dropped) {
	files := map[string]File{}
	for _, f := range shown {
		files[sanitize.Line(f.Path)] = f // as shown to the model
	}
	for _, f := range shown {
		files[f.Path] = f
	}
	var d Dropped
	kept, seen := []Finding{}, map[string]bool{}
	for _, f := range found {
		file, ok := files[f.Path]
		if ok {
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

// place adjusts a finding to the changed lines, and reports whether that is possible.
func (f *Finding) place(file File, d *Dropped) bool {
	if !slices.ContainsFunc(file.Hunks, func(h Hunk) bool { return h.Lines > 0 }) {
		f.StartLine, f.EndLine = 0, 0 // the file was deleted, or only moved
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
	for _, h := range file.Hunks { // none of its lines changed: is it close to one that did?
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

// touches reports whether one of the lines has changed. Where lines were only removed, the lines before and
// after count.
func (h Hunk) touches(start, end int) bool {
	line, removed, came := h.Start, false, false
	gap := func() bool { return removed && !came && line-1 <= end && line >= start }
	for _, r := range h.Rows {
		switch r.Kind {
		case '-':
			removed = true
			continue
		case '+':
			if came = true; r.Line >= start && r.Line <= end {
				return true
			}
		default:
			if gap() {
				return true
			}
			removed, came = false, false
		}
		line = r.Line + 1
	}
	return gap()
}

// media matches names of images and fonts.
var media = regexp.MustCompile(`(?i)\.(png|jpe?g|gif|webp|ico|woff2?|ttf|otf)$`)

// LeftOut turns the files that were not reviewed into findings, so that they do not count as reviewed and a
// gate can fail on them. Images and fonts become notes. Other binary files do not: a script with a zero byte
// counts as binary and can still be executed.
func LeftOut(left []Left) []Finding {
	found := []Finding{}
	for _, l := range left {
		f := Finding{Path: l.Path, Severity: Warning, Rule: notReviewed, Title: "Not reviewed", Message: "This file was not reviewed: " + l.Why + "."}
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

// fingerprint identifies a finding by its rule, its file and the text of its first line, but not by the line
// number or the model's wording, which change between reviews.
func fingerprint(f Finding, file File) string {
	row, _ := file.row(f.StartLine)
	text, _ := json.Marshal([]string{f.Rule, f.Path, strings.Join(strings.Fields(row.Text), " ")}) // strings can always be written
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// number disambiguates equal fingerprints, in order.
func number(list []Finding) {
	seen := map[string]int{}
	for i := range list {
		print := list[i].Fingerprint
		seen[print]++
		list[i].Fingerprint = fmt.Sprintf("%s:%d", print, seen[print])
	}
}
