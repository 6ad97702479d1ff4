package mission

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/mission/gate"
	"github.com/pawl-dev/pawl/internal/mission/missionapi"
	"github.com/pawl-dev/pawl/internal/tool"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// planInput is the input of the plan tool.
type planInput struct {
	Tasks      []taskInput      `json:"tasks" jsonschema:"all tasks, also those that are done"`
	Criteria   []criterionInput `json:"criteria,omitempty" jsonschema:"what must hold in the end; only with the first plan"`
	Checks     []checkInput     `json:"checks,omitempty" jsonschema:"commands that must pass, beside the project's own; only with the first plan"`
	AllowTests []string         `json:"allow_tests,omitempty" jsonschema:"tests that must go or change: the user is asked"`
}

type taskInput struct {
	ID     string   `json:"id" jsonschema:"such as T1"`
	Title  string   `json:"title"`
	Detail string   `json:"detail,omitempty" jsonschema:"all that a worker must know"`
	Files  []string `json:"files,omitempty" jsonschema:"what it owns: paths, directories that end with a slash, patterns with *"`
	After  []string `json:"after,omitempty" jsonschema:"the tasks that must be merged before"`
	Accept []string `json:"accept,omitempty" jsonschema:"what must hold when it is done"`
	Size   string   `json:"size,omitempty" jsonschema:"S, M or L"`
}

type criterionInput struct {
	ID       string   `json:"id" jsonschema:"such as C1"`
	Category string   `json:"category,omitempty"`
	Text     string   `json:"text"`
	Checks   []string `json:"checks,omitempty" jsonschema:"ids of checks that show it"`
	Tests    []string `json:"tests,omitempty" jsonschema:"names of tests that show it, also of tests that are still to be written; * stands for any text"`
}

type checkInput struct {
	ID      string   `json:"id"`
	Command []string `json:"command" jsonschema:"the program and its arguments; no shell"`
	Kind    string   `json:"kind,omitempty" jsonschema:"build, lint, types, test or other"`
}

func (in planInput) plan() pawl.Plan {
	var p pawl.Plan
	for _, t := range in.Tasks {
		p.Tasks = append(p.Tasks, pawl.Task(t))
	}
	return p
}

// check validates a plan on its own.
func (in planInput) check() error {
	faults := []error{in.plan().Check()}
	ids := map[string]bool{goalID: true}
	for _, c := range in.Criteria {
		if c.ID == "" || ids[c.ID] || strings.TrimSpace(c.Text) == "" {
			faults = append(faults, fmt.Errorf("a criterion needs an id of its own, which is not goal, and a text: %q has not", c.ID))
		}
		ids[c.ID] = true
	}
	for _, c := range in.Checks {
		if c.ID == "" || len(c.Command) == 0 {
			faults = append(faults, fmt.Errorf("a check needs an id and a command: %q has not", c.ID))
		}
	}
	return errors.Join(faults...)
}

// errCriteriaFixed rejects a change of the criteria.
var errCriteriaFixed = errors.New("criteria, checks and approvals are fixed since the first plan and cannot change; plan only tasks")

// takePlan records a plan. The first plan also fixes the criteria.
func (c *Control) takePlan(ctx context.Context, call toolapi.Call, b missionapi.Journal, in planInput, by string) (string, error) {
	if err := in.check(); err != nil {
		return "", err
	}
	m := b.Mission()
	if err := in.replaces(m.Order); err != nil {
		return "", err
	}
	if m.Criteria != nil && !hasCriteria(*m.Criteria, in) {
		return "", errCriteriaFixed
	}
	if m.Plans == 0 || !reflect.DeepEqual(m.Plan(), in.plan()) {
		if err := b.Record(ctx, pawl.Planned{Plan: in.plan(), By: by}); err != nil {
			return "", err
		}
	}
	f, err := c.open(ctx, b)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("The plan has %d tasks.", len(in.Tasks))
	if m.Criteria == nil {
		more, err := c.fixCriteria(ctx, call, b, f, in)
		if err != nil {
			return "", err
		}
		text += " " + more
	}
	if len(b.Mission().Unapproved()) > 0 {
		text = paragraphs(text, needsApproval)
	}
	return text, c.writeFiles(b, b.Mission())
}

// replaces returns an error if the plan redefines one of the user's criteria.
func (in planInput) replaces(o pawl.MissionOrder) error {
	for _, c := range in.Criteria {
		if slices.ContainsFunc(o.Criteria, func(k pawl.Criterion) bool { return k.ID == c.ID }) {
			return fmt.Errorf("the criterion %s is the user's, and stays as it is: give yours another id, or leave it out", c.ID)
		}
	}
	return nil
}

// hasCriteria reports whether the fixed criteria include all criteria, checks and approvals of a plan, as
// when a planner's plan is taken over twice.
func hasCriteria(f pawl.Criteria, in planInput) bool {
	for _, c := range in.Criteria {
		if !slices.ContainsFunc(f.Criteria, func(o pawl.Criterion) bool { return reflect.DeepEqual(o, pawl.Criterion(c)) }) {
			return false
		}
	}
	for _, c := range in.Checks {
		if !slices.ContainsFunc(f.Checks, func(o pawl.Check) bool { return o.ID == c.ID && c.runs(o.Args) }) {
			return false
		}
	}
	return within(in.AllowTests, f.Approval.Tests)
}

// runs reports whether a command is that of a fixed check, whose program is an absolute path.
func (c checkInput) runs(args []string) bool {
	return (c.Command[0] == args[0] || c.Command[0] == filepath.Base(args[0])) && slices.Equal(c.Command[1:], args[1:])
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// goalID is the id of the criterion that is the goal itself.
const goalID = "goal"

// allCriteria returns the goal itself, the user's criteria and those of the plan.
func allCriteria(o pawl.MissionOrder, in planInput) []pawl.Criterion {
	list := []pawl.Criterion{{ID: goalID, Text: o.Goal}}
	list = append(list, o.Criteria...)
	for _, c := range in.Criteria {
		list = append(list, pawl.Criterion(c))
	}
	return list
}

// fixCriteria fixes the criteria, runs the checks on the base commit, and creates the mission's branch.
func (c *Control) fixCriteria(ctx context.Context, call toolapi.Call, b missionapi.Journal, f *resources, in planInput) (string, error) {
	m := b.Mission()
	approval, err := c.askApproval(ctx, call, m.Order.Approval, in)
	if err != nil {
		return "", err
	}
	fixed := pawl.Criteria{Criteria: allCriteria(m.Order, in), Protected: m.Order.Protected, Approval: approval}
	fixed, err = c.fixChecks(ctx, f, m.Order.Checks, in.Checks, fixed)
	switch {
	case errors.Is(err, pawl.ErrInvalid) && len(m.Order.Checks)+len(in.Checks) == 0:
		return "", fmt.Errorf("plan with checks that prove it, or block, so that the user names some with --check: %w", err)
	case err != nil:
		return "", err
	}
	name := branch(b.Session())
	if err := f.trees.Advance(ctx, name, "", fixed.Base); err != nil {
		return "", err
	}
	if err := b.Keep(ctx); err != nil {
		return "", err
	}
	if err := b.Record(ctx, pawl.CriteriaSet{Criteria: fixed, Hash: fixed.Hash(), Branch: name}); err != nil {
		return "", err
	}
	var runs []pawl.CheckRun
	err = f.recording(ctx, b, pawl.CheckRan{}, call.Progress, func(ctx context.Context, onRun func(pawl.CheckRun)) (err error) {
		runs, err = f.gate.Baseline(ctx, fixed, onRun)
		return err
	})
	if err != nil {
		return "", err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Fixed: %d criteria, %d checks, base %.12s. Results of the checks on the base:\n", len(fixed.Criteria), len(fixed.Checks), fixed.Base)
	for _, r := range runs {
		word := "passes"
		if !r.OK() {
			word = "fails already"
		}
		fmt.Fprintf(&text, "- %s %s\n", r.Check, word)
	}
	return text.String(), nil
}

// fixChecks finds the checks: the user's or else the project's, and those of the plan.
func (c *Control) fixChecks(ctx context.Context, f *resources, given []pawl.Check, more []checkInput, fixed pawl.Criteria) (pawl.Criteria, error) {
	if len(more) == 0 {
		return gate.NewCriteria(ctx, f.repo, "HEAD", given, fixed)
	}
	found, err := gate.NewCriteria(ctx, f.repo, "HEAD", given, pawl.Criteria{})
	if err != nil && !errors.Is(err, pawl.ErrInvalid) { // the project has no checks; those of the plan suffice
		return fixed, err
	}
	checks := found.Checks
	for _, one := range more {
		kind := pawl.CheckKind(one.Kind)
		if !slices.Contains([]pawl.CheckKind{pawl.CheckBuild, pawl.CheckLint, pawl.CheckTypes, pawl.CheckTest}, kind) {
			kind = pawl.CheckOther
		}
		checks = append(checks, pawl.Check{ID: one.ID, Kind: kind, Args: one.Command})
	}
	return gate.NewCriteria(ctx, f.repo, "HEAD", checks, fixed)
}

const yes = "Allow"

// askApproval asks the user to approve the plan's changes to tests. Anything but a yes is an error.
func (c *Control) askApproval(ctx context.Context, call toolapi.Call, approval pawl.Approval, in planInput) (pawl.Approval, error) {
	if len(in.AllowTests) == 0 {
		return approval, nil
	}
	names := strings.Join(in.AllowTests, ", ")
	question := fmt.Sprintf("The plan changes or removes tests: %s. Allow this?", names)
	answer, err := call.Caller.Ask(ctx, call.ID, pawl.Ask{Kind: pawl.AskQuestion, Timeout: tool.QuestionTimeout, Questions: []pawl.Question{{
		Header: "Tests", Question: question, Options: []pawl.Option{{Label: yes}, {Label: "Deny"}},
	}}})
	if err != nil {
		return approval, err
	}
	if answer.Outcome != pawl.OutcomeAnswered || len(answer.Answers) != 1 || !slices.Equal(answer.Answers[0], []string{yes}) {
		return approval, fmt.Errorf("the user has not approved changes to %s: plan without them", names)
	}
	approval.Tests = append(approval.Tests, in.AllowTests...)
	return approval, nil
}
