// Package worktree gives each worker a directory to work in, and takes over what it
// leaves there.
//
// A worktree is a repository of its own with a commit checked out. It borrows
// the objects of the user's repository, or has copies, and shares nothing else with
// it, so a worker may do with it whatever it likes. Nothing in it is believed: what pawl
// takes over are the files, never what the worktree's git says of them. Git runs
// in the user's repository alone, apart from its worktree and its index, and the
// only refs that change are branches below Prefix.
package worktree

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
)

// Bounds of a worktree, unless Trees says otherwise.
const (
	defaultMaxFile  = 64 << 20
	defaultMaxFiles = 200_000
	defaultMaxBytes = 4 << 30
)

const (
	// Prefix is how the branches begin that Advance may move.
	Prefix = "pawl/"

	branch   = "work" // that a worker finds itself on
	maxName  = 100    // bytes of a worktree's name, and of the parts of a label
	maxTitle = 200    // bytes of a commit's first line
	maxText  = 16 << 10
)

// Trees are the worktrees of a repository. It is safe for concurrent use, also
// by several processes.
type Trees struct {
	Repo *git.Repo // the user's
	Dir  string    // pawl's own directory for worktrees, absolute; no worker may write to it, but for its own one below

	// Whole gives worktrees objects of their own, so that they can be worked in on
	// hosts that the user's repository is not on.
	Whole bool

	MaxFile  int64 // bytes of a file that a worker has made or changed; 0 means 64 MiB
	MaxFiles int   // files and directories of a worktree; 0 means 200,000
	MaxBytes int64 // of all its files; 0 means 4 GiB

	trace func(point string) // for tests: told after each effect
}

func (t *Trees) maxFile() int64  { return cmp.Or(t.MaxFile, defaultMaxFile) }
func (t *Trees) maxFiles() int   { return cmp.Or(t.MaxFiles, defaultMaxFiles) }
func (t *Trees) maxBytes() int64 { return cmp.Or(t.MaxBytes, defaultMaxBytes) }

// reach tells a test how far it has come.
func (t *Trees) reach(point string) {
	if t.trace != nil {
		t.trace(point)
	}
}

// Path returns the directory of a worktree.
func (t *Trees) Path(name string) string { return filepath.Join(t.Dir, name) }

// checkName refuses what cannot name a worktree: names with a dot at their
// beginning are pawl's own.
func checkName(name string) error {
	if !isWord(name) {
		return fmt.Errorf("%.100q cannot name a workplace: letters, digits, dots, hyphens and underscores can: %w", name, pawl.ErrInvalid)
	}
	return nil
}

// isWord reports whether a text is a word that means nothing to a shell, to git
// or to a file system.
func isWord(text string) bool {
	return text != "" && len(text) <= maxName && text[0] != '.' && text[0] != '-' && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

// temporary makes a directory that nobody else uses, for files that git reads and
// for its index. A killed process leaves it to Sweep.
func (t *Trees) temporary() (dir string, remove func(), err error) {
	h, err := t.hold(prefixApart)
	if err != nil {
		return "", nil, err
	}
	return h.path, func() {
		_ = os.RemoveAll(h.path) // what stays is Sweep's
		h.release()
	}, nil
}

// Label says what a commit is of. Its title and text may be a model's words.
type Label struct {
	Mission string
	Task    string
	Attempt int
	Title   string
	Text    string
	At      time.Time // of the event that it comes from: a repeated call makes the same commit
}

// The trailers of a commit, in this order at its very end. A text before them
// may look like them and is none.
const (
	trailMission = "Pawl-Mission: "
	trailTask    = "Pawl-Task: "
	trailAttempt = "Pawl-Attempt: "
)

func (l Label) check() error {
	if !isWord(l.Mission) || !isWord(l.Task) || l.Attempt < 1 || l.At.IsZero() {
		return fmt.Errorf("a commit needs a mission, a task, an attempt and a time: %.100q, %.100q, %d, %s: %w", l.Mission, l.Task, l.Attempt, l.At, pawl.ErrInvalid)
	}
	return nil
}

// trailers are the last lines of a message.
func (l Label) trailers() string {
	return trailMission + l.Mission + "\n" + trailTask + l.Task + "\n" + trailAttempt + strconv.Itoa(l.Attempt) + "\n"
}

// message returns the text of a commit.
func (l Label) message() string {
	title := strings.Join(strings.Fields(clean(l.Title, maxTitle)), " ")
	message := cmp.Or(title, "work on "+l.Task) + "\n\n"
	if text := strings.TrimSpace(clean(l.Text, maxText)); text != "" {
		message += text + "\n\n"
	}
	return message + l.trailers()
}

// clean takes out what no text of a commit has, and cuts it.
func clean(text string, limit int) string {
	text = strings.ToValidUTF8(text[:min(len(text), limit)], "")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, text)
}
