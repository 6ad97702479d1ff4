// Package experiment finds out by experiments whether a change is right: it runs the checks of a project on trees that
// it has broken on purpose, and compares the results with those of controls.
package experiment

import (
	"context"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/git"
	"github.com/pawl-dev/pawl/internal/mission/gate/checkrun"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
)

// Config describes a change and how to check it.
type Config struct {
	Repo   *git.Repo
	Base   string // the commit that the change starts from
	Head   string // the commit that ends it
	Checks []pawl.Check

	// Dir is an empty directory for trees and caches.
	Dir string
	// Sandbox wraps a command in a sandbox with network access to the given hosts. It returns an error if there is no
	// sandbox.
	Sandbox func(ctx context.Context, args []string, p sandbox.Profile, hosts []string) (sandbox.Wrapped, error)
	// Seed is a directory whose files the cache starts with; "" means that it starts empty.
	Seed string
	// Hidden are absolute paths that checks cannot see.
	Hidden []string
	// Views reports whether the sandbox can show directories as copy-on-write views. Otherwise each run has a copy.
	Views bool

	Approved func(test string) bool // reports whether a person approved that a test changes or goes; may be nil
	// Goal says that the checks show whether a goal is reached: if none works on either side, the change fails. Otherwise
	// nothing can be said about it, which is an error.
	Goal bool
	// Known, if not nil, are the results of the checks on the base, of an earlier run. Only Compare uses them.
	Known    map[string]checkrun.Result
	Budget   time.Duration       // for the mutants; 0 means 5 minutes
	Parallel int                 // runs at once; 0 means one for each two processors
	OnRun    func(pawl.CheckRun) // called after each run, one call at a time; may be nil
	// OnProgress is called when a stage or a run starts or ends, one call at a time; may be nil.
	OnProgress func(Progress)
}

// Verdict is what is known about a change.
type Verdict string

// The verdicts.
const (
	Failed  Verdict = "failed"          // a check or a control fails
	Checked Verdict = "checked"         // nothing fails, but tests do not show that the change is right
	NoCode  Verdict = "no code changed" // documentation, configuration or tests only, and the tests are as strong as before
	Proven  Verdict = "proven"          // nothing fails, and the tests notice mistakes in the changed lines
)

// Kind is the kind of a finding.
type Kind string

// The kinds of findings, by weight.
const (
	Failure  Kind = "failure"  // the verdict is failed
	Question Kind = "question" // a person has to answer it; the verdict is at most checked
	Gap      Kind = "gap"      // what the tests do not show; the verdict is at most checked
	Note     Kind = "note"     // for the reviewer
)

// Finding is something that an experiment found.
type Finding struct {
	Kind Kind   `json:"kind"`
	Rule string `json:"rule"`           // e.g. "test-fails"
	Item string `json:"item,omitempty"` // the test, file or check
	Text string `json:"text"`
	Path string `json:"path,omitempty"` // the file that it is about
	Line int    `json:"line,omitempty"` // 0 means the whole file
	// Approve is the test id that a person approves to accept this, or "".
	Approve string `json:"approve,omitempty"`
}

// Result is the result of all experiments.
type Result struct {
	Verdict  Verdict         `json:"verdict"`
	Findings []Finding       `json:"findings"`
	Tree     string          `json:"tree"` // hash of the head's tree
	Runs     []pawl.CheckRun `json:"runs"`
	Holding  int             `json:"holding"` // tests of the base that pass on the new code
	New      int             `json:"new"`     // new tests that fail on the old code
	Mutants  Mutants         `json:"mutants"`

	// OnBase and OnHead are the results of the checks on both sides, by the ids of the checks.
	OnBase, OnHead map[string]checkrun.Result `json:"-"`
}

// Mutants counts the mutants of the changed lines.
type Mutants struct {
	Killed   int        `json:"killed"`
	Total    int        `json:"total"`
	Survived []Survivor `json:"survived,omitempty"`
}

// Survivor is a mutant that no check noticed.
type Survivor struct {
	Path     string `json:"path"`
	Line     int    `json:"line"`
	Operator string `json:"operator"`
	Before   string `json:"before"`
	After    string `json:"after"`
}

// Do runs the experiments. It returns an error only if an experiment could not be done; everything wrong with the change
// is in the result.
func Do(ctx context.Context, c Config) (Result, error) {
	x, err := open(ctx, c)
	if err != nil {
		return Result{}, err
	}
	return x.run(ctx)
}

func (x *experiments) run(ctx context.Context) (Result, error) {
	if len(x.changed) == 0 {
		x.find(Finding{Kind: Failure, Rule: "no-change", Text: "there is no change"})
		return x.result(), nil
	}
	stages := x.stages()
	for i, s := range stages {
		x.report(func(p *Progress) { *p = Progress{Stage: s.name, Step: i + 1, Steps: len(stages)} })
		if err := s.do(ctx); err != nil {
			return x.result(), err
		}
		if x.failed() {
			break
		}
	}
	x.addNotes()
	return x.result(), nil
}

// Baseline runs the checks on the base only.
func Baseline(ctx context.Context, c Config) (Result, error) {
	c.Head = c.Base
	x, err := open(ctx, c)
	if err != nil {
		return Result{}, err
	}
	err = x.runBase(ctx)
	return x.result(), err
}

// Compare runs the checks on both sides, and finds only what is worse on the head. The verdict means nothing.
func Compare(ctx context.Context, c Config) (Result, error) {
	x, err := open(ctx, c)
	if err != nil {
		return Result{}, err
	}
	if x.Known == nil {
		err = x.runBase(ctx)
	} else {
		x.onBase = x.Known
		x.warm.Store(true)
	}
	if err == nil {
		err = x.compareHead(ctx)
	}
	return x.result(), err
}
