package record

import (
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// Limits of a list; see [pawl.Filter].
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// normalize bounds Limit, converts texts to the form that the log keeps, and rounds
// Before up to whole microseconds, so that "updated before" selects the same rows.
func normalize(f pawl.Filter) pawl.Filter {
	f.Dir, f.Parent = text(f.Dir), pawl.SessionID(text(string(f.Parent)))
	f.Agent, f.Model = text(f.Agent), text(f.Model)
	f.Owner = user(f.Owner)
	if f.Limit <= 0 {
		f.Limit = defaultLimit
	}
	f.Limit = min(f.Limit, maxLimit)
	if t := stored(f.Before); t.Before(f.Before) {
		f.Before = t.Add(time.Microsecond)
	}
	return f
}

// UsageFilter normalizes a filter and returns the first day that it selects: "" for
// no bound.
func UsageFilter(f pawl.UsageFilter) (_ pawl.UsageFilter, since string) {
	f.Dir, f.Session = text(f.Dir), pawl.SessionID(text(string(f.Session)))
	f.Owner = user(f.Owner)
	if !f.Since.IsZero() {
		since = store.Day(f.Since)
	}
	return f, since
}

// user returns a user name in the form that the log keeps; nil for nil.
func user(u *pawl.User) *pawl.User {
	if u == nil {
		return nil
	}
	return new(pawl.User(text(string(*u))))
}

// maxWordsText limits how much of a title or prompt is searchable, in bytes:
// PostgreSQL cannot index a word of more than 2 KiB.
const maxWordsText = 1000

// Words returns the search words of a title or prompt.
func Words(text string) []string {
	return store.SearchWords(text[:min(len(text), maxWordsText)])
}
