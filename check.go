package pawl

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Check is a command that verifies a tree of files.
type Check struct {
	ID      string        `json:"id"` // unique among the checks of a gate, e.g. "go-test"
	Kind    CheckKind     `json:"kind"`
	Args    []string      `json:"args"`              // once the criteria are set, the first is the absolute path of a program outside the tree
	Dir     string        `json:"dir,omitempty"`     // relative to the top of the tree; "" is the top
	Env     []string      `json:"env,omitempty"`     // NAME=value, added to a clean environment
	Network []string      `json:"network,omitempty"` // hosts that it may reach; none means no network
	Timeout time.Duration `json:"timeout,omitempty"` // 0 means the default of the gate
	Tests   string        `json:"tests,omitempty"`   // format of the test results, such as gotest or junit; "" if it runs no tests
	Report  string        `json:"report,omitempty"`  // the file with the test results, relative to Dir, or a pattern for several; "" means standard output
}

// CheckKind is the kind of a [Check].
type CheckKind string

// The kinds of checks. A setup verifies nothing: it prepares a fresh tree for the
// others.
const (
	CheckSetup CheckKind = "setup"
	CheckBuild CheckKind = "build"
	CheckLint  CheckKind = "lint"
	CheckTypes CheckKind = "types"
	CheckTest  CheckKind = "test"
	CheckOther CheckKind = "other"
)

// String returns the command line, quoted for a shell.
func (c Check) String() string {
	words := slices.Clone(c.Args)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$`|&;<>()*?[]{}~#") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Criterion is a condition that must be met before a mission can be sealed.
type Criterion struct {
	ID       string   `json:"id"`
	Category string   `json:"category,omitempty"`
	Text     string   `json:"text"`
	Checks   []string `json:"checks,omitempty"` // IDs of checks that show it: all must pass, even if they failed before the mission
	Tests    []string `json:"tests,omitempty"`  // patterns of tests that show it: all must pass, and each pattern must match one
}

// HasEvidence reports whether checks or tests show that the criterion is met.
func (c Criterion) HasEvidence() bool { return len(c.Checks)+len(c.Tests) > 0 }

// Approval lists the exceptions from protection that a user approved before the
// work began.
type Approval struct {
	Tests []string `json:"tests,omitempty"` // patterns of tests that may be removed or changed
}

// Criteria are the checks and criteria that a mission must meet. They are recorded
// before the work begins, with their hash, and never change.
type Criteria struct {
	Base      string            `json:"base"` // the commit at which the work began
	Checks    []Check           `json:"checks"`
	Criteria  []Criterion       `json:"criteria,omitempty"`
	Protected []string          `json:"protected,omitempty"` // patterns of files that must not change
	Approval  Approval          `json:"approval"`
	Tools     map[string]string `json:"tools"` // the programs of the checks, and their hashes
}

// Hash returns the hash that the log records.
func (f Criteria) Hash() string { return digest(f) }

// digest returns the SHA-256 of the JSON of a value as the log stores it. Output of
// programs may not be valid UTF-8: encoding replaces the invalid bytes, so the hash
// is that of the decoded value, encoded again.
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

// CheckRun is the result of a [Check] that Pawl ran.
type CheckRun struct {
	Check    string        `json:"check"` // its ID
	On       string        `json:"on"`    // base, candidate, or what an experiment changed
	Tree     string        `json:"tree"`  // hash of the tree that it ran on
	Args     []string      `json:"args"`
	Env      string        `json:"env"`             // hash of its environment
	Code     int           `json:"code"`            // exit code; -1 if a signal ended it
	Fault    string        `json:"fault,omitempty"` // why it did not finish, e.g. a timeout
	Duration time.Duration `json:"duration"`
	Output   string        `json:"output"`          // hash of the output
	Tail     string        `json:"tail,omitempty"`  // the end of the output
	Tests    *TestCount    `json:"tests,omitempty"` // nil if it ran no tests
}

// TestCount counts test results.
type TestCount struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	Broken  int `json:"broken,omitempty"` // files or packages that could not be run
}

// OK reports whether the check passed.
func (r CheckRun) OK() bool { return r.Code == 0 && r.Fault == "" }

// GateFault is a reason why a gate did not pass.
type GateFault struct {
	Rule string `json:"rule"`           // e.g. "test-deleted"
	Item string `json:"item,omitempty"` // the test, file or check
	Text string `json:"text"`           // what is wrong and how to fix it, for users and for the Commander
}
