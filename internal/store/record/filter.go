package record

import (
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/store"
)

// The bounds of a list; see [pawl.Filter].
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Filter returns f with its Limit in bounds, its texts in the form that the log
// keeps, and its Before in whole microseconds, rounded up so that "updated
// before" picks the same rows.
func Filter(f pawl.Filter) pawl.Filter {
	f.Dir, f.Parent = text(f.Dir), pawl.SessionID(text(string(f.Parent)))
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

// UsageFilter returns f with its texts in the form that the log keeps, and the
// first day that it picks: "" for no bound.
func UsageFilter(f pawl.UsageFilter) (_ pawl.UsageFilter, since string) {
	f.Dir, f.Session = text(f.Dir), pawl.SessionID(text(string(f.Session)))
	f.Owner = user(f.Owner)
	if !f.Since.IsZero() {
		since = store.Day(f.Since)
	}
	return f, since
}

// user returns a name in the form that the log keeps; nil for nil.
func user(u *pawl.User) *pawl.User {
	if u == nil {
		return nil
	}
	return new(pawl.User(text(string(*u))))
}

// maxWordsText bounds how much of a title is searched, in bytes: PostgreSQL
// refuses to index a word of more than 2 KiB.
const maxWordsText = 1000

// Words returns the words by which a title or prompt is found.
func Words(text string) []string {
	return store.SearchWords(text[:min(len(text), maxWordsText)])
}
