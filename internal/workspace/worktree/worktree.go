// Package worktree creates a worktree for each worker of a mission, and collects,
// merges and removes the workers' changes.
//
// A worktree is a git repository of its own with a commit checked out. It borrows
// the objects of the user's repository, or has copies of them, and shares nothing
// else with it, so a worker may do anything to its worktree. Its git metadata is
// not trusted: pawl reads only the files, never the worktree's index or HEAD. Git
// runs only in the user's repository, without touching its working tree and index,
// and pawl moves only branches below Prefix.
package worktree

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/git"
)

// Default limits of Trees.
const (
	defaultMaxFile  = 64 << 20
	defaultMaxFiles = 200_000
	defaultMaxBytes = 4 << 30
)

const (
	// Prefix starts the names of the branches that Advance may move.
	Prefix = "pawl/"

	branch   = "work" // the branch that is checked out in a worktree
	maxName  = 100    // bytes of a worktree's name, and of the words in a Label
	maxTitle = 200    // bytes of a commit title
	maxText  = 16 << 10
)

// Trees manages the worktrees of a repository. It is safe for concurrent use, also
// by several processes.
type Trees struct {
	Repo *git.Repo // the user's repository
	Dir  string    // pawl's directory for worktrees, absolute; a worker may write only to its own worktree in it

	// Whole copies the objects into each worktree, so that it works on hosts
	// without the user's repository.
	Whole bool

	MaxFile  int64 // bytes of a file that a worker adds or changes; 0 means 64 MiB
	MaxFiles int   // files and directories of a worktree; 0 means 200,000
	MaxBytes int64 // bytes of all files of a worktree; 0 means 4 GiB

	trace func(point string) // for tests: called after each side effect
}

func (t *Trees) maxFile() int64  { return cmp.Or(t.MaxFile, defaultMaxFile) }
func (t *Trees) maxFiles() int   { return cmp.Or(t.MaxFiles, defaultMaxFiles) }
func (t *Trees) maxBytes() int64 { return cmp.Or(t.MaxBytes, defaultMaxBytes) }

// reach reports progress to a test.
func (t *Trees) reach(point string) {
	if t.trace != nil {
		t.trace(point)
	}
}

// Path returns the path of a worktree.
func (t *Trees) Path(name string) string { return filepath.Join(t.Dir, name) }

// checkName returns an error for a name that a worktree cannot have. Names that
// start with a dot are reserved for pawl.
func checkName(name string) error {
	if !isWord(name) {
		return fault.New(pawl.ErrInvalid, "invalid worktree name %.100q: use letters, digits, dots, hyphens and underscores", name)
	}
	return nil
}

// isWord reports whether text has no special meaning to a shell, to git or to a
// file system.
func isWord(text string) bool {
	return text != "" && len(text) <= maxName && text[0] != '.' && text[0] != '-' && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

// temporary creates a private directory for git's index and input files. Sweep
// removes it if the process is killed.
func (t *Trees) temporary() (dir string, remove func(), err error) {
	h, err := t.hold(prefixApart)
	if err != nil {
		return "", nil, err
	}
	return h.path, func() {
		_ = os.RemoveAll(h.path) // Sweep removes what is left
		h.release()
	}, nil
}

// Label describes a commit. Title and Text may be written by a model.
type Label struct {
	Mission string
	Task    string
	Attempt int
	Title   string
	Text    string
	At      time.Time // time of the event that causes the commit, so that a repeated call makes the same commit
}

// Trailers of a commit message, in this order at its very end. Lines before them
// that look like trailers do not count.
const (
	trailMission = "Pawl-Mission: "
	trailTask    = "Pawl-Task: "
	trailAttempt = "Pawl-Attempt: "
)

// check returns an error if a field that identifies the attempt is missing or
// malformed.
func (l Label) check() error {
	if !isWord(l.Mission) || !isWord(l.Task) || l.Attempt < 1 || l.At.IsZero() {
		return fault.New(pawl.ErrInvalid, "a commit needs a mission, a task, an attempt and a time: got %.100q, %.100q, %d, %s", l.Mission, l.Task, l.Attempt, l.At)
	}
	return nil
}

// trailers returns the last lines of the commit message.
func (l Label) trailers() string {
	return trailMission + l.Mission + "\n" + trailTask + l.Task + "\n" + trailAttempt + strconv.Itoa(l.Attempt) + "\n"
}

// message returns the commit message.
func (l Label) message() string {
	title := strings.Join(strings.Fields(clean(l.Title, maxTitle)), " ")
	message := cmp.Or(title, "Work on "+l.Task) + "\n\n"
	if text := strings.TrimSpace(clean(l.Text, maxText)); text != "" {
		message += text + "\n\n"
	}
	return message + l.trailers()
}

// clean truncates text to limit bytes and removes invalid UTF-8 and control
// characters other than newlines and tabs.
func clean(text string, limit int) string {
	text = strings.ToValidUTF8(text[:min(len(text), limit)], "")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, text)
}
