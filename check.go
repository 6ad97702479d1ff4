package pawl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Check is a command that proves something of a tree of files.
type Check struct {
	ID      string        `json:"id"` // e.g. "go-test"; unique among the checks of a gate
	Kind    CheckKind     `json:"kind"`
	Args    []string      `json:"args"`              // once frozen, the first is the whole path of a program outside the tree
	Dir     string        `json:"dir,omitempty"`     // from the top of the tree; "" is the top
	Env     []string      `json:"env,omitempty"`     // NAME=value, in addition to the clean environment
	Network []string      `json:"network,omitempty"` // hosts that it may reach; none means no network
	Timeout time.Duration `json:"timeout,omitempty"` // 0 means the gate's own
	Tests   string        `json:"tests,omitempty"`   // how it tells of its tests: gotest, junit, jest, cargo; "" if it runs none
	Report  string        `json:"report,omitempty"`  // the file, from Dir, that tells of them; "" is its standard output
}

// CheckKind is what a check is about.
type CheckKind string

// Kinds of checks. A setup proves nothing: it prepares a fresh tree for the others.
const (
	CheckSetup CheckKind = "setup"
	CheckBuild CheckKind = "build"
	CheckLint  CheckKind = "lint"
	CheckTypes CheckKind = "types"
	CheckTest  CheckKind = "test"
	CheckOther CheckKind = "other"
)

// String is the command line, for people.
func (c Check) String() string {
	words := slices.Clone(c.Args)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$`|&;<>()*?[]{}~#") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Criterion is something that must hold for a mission to be done.
type Criterion struct {
	ID       string   `json:"id"`
	Category string   `json:"category,omitempty"`
	Text     string   `json:"text"`
	Checks   []string `json:"checks,omitempty"` // of these ids: all must pass, whatever they did before
}

// Approval lists exceptions from protection that a person approved before the work began.
type Approval struct {
	Files []string `json:"files,omitempty"` // patterns of protected files that may change
	Tests []string `json:"tests,omitempty"` // patterns of tests that may go, change, or pass without the change
}

// Criteria are the checks and criteria that a mission must meet. They are
// written before the work begins and never change: their hash is in the log.
type Criteria struct {
	Base      string            `json:"base"` // the commit that the work began at
	Checks    []Check           `json:"checks"`
	Criteria  []Criterion       `json:"criteria,omitempty"`
	Protected []string          `json:"protected,omitempty"` // in addition to those that pawl knows
	Approval  Approval          `json:"approval"`
	Tools     map[string]string `json:"tools"` // the programs of the checks, and their hashes
}

// Hash is what the log keeps of it.
func (f Criteria) Hash() string { return digest(f) }

// digest is the hash of a value as the log keeps it: what is no text in it, as a
// program may print, becomes one when it is written, and so the hash is of that.
func digest[T any](v T) string {
	var kept T
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err == nil {
		text, err = json.Marshal(kept)
	}
	if err != nil { // it is made of texts, numbers and lists
		panic(err)
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// CheckRun is a check that pawl itself ran.
type CheckRun struct {
	Check    string        `json:"check"` // its id
	On       string        `json:"on"`    // base, candidate, old-tests, new-tests, merge
	Tree     string        `json:"tree"`  // the hash of the tree that it ran on
	Args     []string      `json:"args"`
	Env      string        `json:"env"`             // the hash of its environment
	Code     int           `json:"code"`            // -1 if a signal ended it
	Fault    string        `json:"fault,omitempty"` // why it did not come to an end: a timeout, say
	Duration time.Duration `json:"duration"`
	Output   string        `json:"output"`          // the hash of what it printed
	Tail     string        `json:"tail,omitempty"`  // the end of that
	Tests    *TestCount    `json:"tests,omitempty"` // if it ran any
}

// TestCount is how many tests there were.
type TestCount struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	Broken  int `json:"broken,omitempty"` // files or packages that could not be run
}

// OK reports whether a check passed.
func (r CheckRun) OK() bool { return r.Code == 0 && r.Fault == "" }

// GateFault is a reason why a gate does not open.
type GateFault struct {
	Rule string `json:"rule"`           // e.g. "test-deleted"
	Item string `json:"item,omitempty"` // the test, file or check
	Text string `json:"text"`           // what is wrong and what to do, for people and for the Commander
}
