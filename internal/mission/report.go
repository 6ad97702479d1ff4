package mission

import (
	"context"
	_ "embed" // the page
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript/export"
)

// Report is the result of a mission and its evidence.
type Report struct {
	Mission  pawl.SessionID    `json:"mission"`
	State    pawl.MissionState `json:"state"`
	Goal     string            `json:"goal"`
	Branch   string            `json:"branch,omitempty"`
	Base     string            `json:"base,omitempty"`
	Commit   string            `json:"commit,omitempty"` // the sealed one, or the tip of the branch
	Blocked  string            `json:"blocked,omitempty"`
	Tasks    []TaskReport      `json:"tasks"`
	Checks   *pawl.Criteria    `json:"checks,omitempty"` // the fixed criteria and checks
	Evidence Evidence          `json:"evidence"`
	Team     int               `json:"team"` // number of workers and reviewers
	Usage    pawl.Usage        `json:"usage"`
	CostUSD  float64           `json:"cost_usd"`
	Began    time.Time         `json:"began"`
}

// TaskReport is a task of the plan and its state.
type TaskReport struct {
	ID      string            `json:"id"`
	Title   string            `json:"title"`
	Phase   pawl.TaskPhase    `json:"phase"`
	Attempt int               `json:"attempt"`
	Commit  string            `json:"commit,omitempty"`
	Why     pawl.ReturnReason `json:"why,omitempty"` // why the latest attempt was returned
	Took    time.Duration     `json:"took"`          // of all attempts that have ended
	Usage   pawl.Usage        `json:"usage"`         // of their workers
	CostUSD float64           `json:"cost_usd"`
}

// NewReport builds a report.
func NewReport(b pawl.Board, e Evidence) Report {
	m := b.Mission
	r := Report{
		Mission: b.Session.ID, State: b.State, Goal: m.Order.Goal, Branch: m.Branch, Commit: m.Tip, Tasks: []TaskReport{}, Checks: m.Criteria,
		Evidence: e, Team: len(b.Team), Usage: b.Usage, CostUSD: b.Usage.Cost.Dollars(), Began: m.Began,
	}
	if m.Criteria != nil {
		r.Base = m.Criteria.Base
	}
	if m.Sealed != nil {
		r.Commit = m.Sealed.Candidate
	}
	if m.Blocked != nil {
		r.Blocked = m.Blocked.Reason
	}
	for _, t := range m.Tasks {
		r.Tasks = append(r.Tasks, TaskReport{
			ID: t.Task.ID, Title: t.Task.Title, Phase: t.Phase, Attempt: t.Attempt, Commit: t.Commit, Why: t.Why,
			Took: t.Took, Usage: t.Usage, CostUSD: t.Usage.Cost.Dollars(),
		})
	}
	return r
}

// ReportOf returns the report of a mission from the evidence in its log.
func ReportOf(ctx context.Context, svc pawl.Service, b pawl.Board) (Report, error) {
	e, err := ReadEvidence(Log(ctx, svc, b.Session))
	if err != nil {
		return Report{}, fmt.Errorf("read the evidence of %s: %w", b.Session.ID, err)
	}
	return NewReport(b, e), nil
}

// Format returns the report as json, html, markdown or intoto.
func (r Report) Format(format string) ([]byte, error) {
	switch format {
	case "json":
		return json.Marshal(r)
	case "html":
		return []byte(r.HTML()), nil
	case "markdown":
		return []byte(r.Markdown()), nil
	case "intoto":
		return r.Statement()
	default:
		return nil, fault.New(pawl.ErrInvalid, "unknown format %.40q of a report: use json, html, markdown or intoto", format)
	}
}

// IsCurrent reports whether the evidence is about the report's commit.
func (r Report) IsCurrent() bool {
	return r.Evidence.Proof != nil && r.Evidence.Proof.Candidate == r.Commit
}

// proof says in one sentence what the evidence proves.
func (r Report) proof() string {
	switch p := r.Evidence.Proof; {
	case p == nil:
		return "The gate has not run yet: nothing is verified."
	case !r.IsCurrent():
		return fmt.Sprintf("The gate ran on %s, and the branch has moved since: the results below do not apply to %s.", humanize.Commit(p.Candidate), humanize.Commit(r.Commit))
	case r.State == pawl.MissionSealed:
		return fmt.Sprintf("The gate passed on %s, in round %d.", humanize.Commit(p.Candidate), r.Evidence.Round)
	default:
		return fmt.Sprintf("The gate ran on %s, in round %d.", humanize.Commit(p.Candidate), r.Evidence.Round)
	}
}

// String describes the state of the chain.
func (c Chain) String() string {
	if c.Fault != "" {
		return "broken: " + c.Fault
	}
	if c.Links == 0 {
		return "empty"
	}
	return fmt.Sprintf("verified, %s, ends with %s", humanize.Plural(c.Links, "link"), c.Head)
}

func spent(u pawl.Usage) string {
	return fmt.Sprintf("%s, %s tokens", humanize.Dollars(u.Cost), humanize.Short(u.Tokens()))
}

// Markdown returns the report as Markdown.
func (r Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Mission\n\n**%s**: %s\n\n", title(string(r.State)), cell(r.Goal))
	if r.Blocked != "" {
		fmt.Fprintf(&b, "Blocked: %s\n\n", cell(r.Blocked))
	}
	fmt.Fprintf(&b, "%s\n\n", r.proof())
	for _, row := range r.facts() {
		fmt.Fprintf(&b, "- %s: %s\n", row[0], cell(row[1]))
	}
	b.WriteString("\n## Tasks\n\n| Task | Title | State | Attempts | Time | Cost | Commit |\n|---|---|---|---|---|---|---|\n")
	for _, t := range r.Tasks {
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %s | %s |\n", cell(t.ID), cell(t.Title), cell(state(t)), t.Attempt, humanize.Clock(t.Took), spent(t.Usage), humanize.Commit(t.Commit))
	}
	if len(r.Evidence.Reviews) > 0 {
		b.WriteString("\n## Reviews\n")
	}
	for _, v := range r.Evidence.Reviews {
		line, _ := humanize.Mission(v)
		fmt.Fprintf(&b, "\n%s (session %s)\n\n", title(line), v.Reviewer)
		for _, j := range v.Holds {
			fmt.Fprintf(&b, "- **%s** %s: %s\n", cell(j.ID), holds(j), cell(j.Why))
		}
	}
	if r.Evidence.Proof != nil && r.Checks != nil {
		b.WriteString("\n" + r.Evidence.Proof.Markdown())
	}
	return b.String()
}

// facts returns the labeled one-line values.
func (r Report) facts() [][2]string {
	list := [][2]string{{"Mission", string(r.Mission)}, {"Began", r.Began.UTC().Format(time.RFC3339)}}
	if r.Branch != "" {
		list = append(list, [2]string{"Branch", r.Branch}, [2]string{"Commit", r.Commit}, [2]string{"Base", r.Base})
	}
	return append(list, [2]string{"Evidence chain", r.Evidence.Chain.String()}, [2]string{"Cost", spent(r.Usage)}, [2]string{"Workers and reviewers", fmt.Sprint(r.Team)})
}

func state(t TaskReport) string {
	if t.Why == "" || t.Phase == pawl.PhaseMerged {
		return string(t.Phase)
	}
	return fmt.Sprintf("%s (returned: %s)", t.Phase, t.Why)
}

func holds(j pawl.Judgment) string {
	if j.Holds {
		return "holds"
	}
	return "does not hold"
}

// title capitalizes the first letter.
func title(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// cell sanitizes untrusted text for a line or a table cell in Markdown.
func cell(text string) string {
	return strings.ReplaceAll(sanitize.Line(strings.Join(strings.Fields(text), " ")), "|", `\|`)
}

//go:embed report.html
var reportText string

var reportPage = export.Page(reportText, template.FuncMap{
	"line": sanitize.Line, "words": sanitize.Text, "title": title, "state": state, "holds": holds, "commit": humanize.Commit, "clock": humanize.Clock, "spent": spent,
	"said": func(v pawl.Reviewed) string { line, _ := humanize.Mission(v); return title(line) },
})

// HTML returns the report as a self-contained page.
func (r Report) HTML() string {
	view := struct {
		Report

		Proof string
		Facts [][2]string
		Gate  template.HTML
	}{Report: r, Proof: r.proof(), Facts: r.facts()}
	if r.Evidence.Proof != nil && r.Checks != nil {
		view.Gate = r.Evidence.Proof.Section(*r.Checks)
	}
	var b strings.Builder
	if err := reportPage.Execute(&b, view); err != nil { // the template and the view are both ours
		panic(err)
	}
	return strings.TrimSpace(b.String()) + "\n"
}

// Statement returns the evidence as an in-toto statement; see [gate.Proof.Statement].
func (r Report) Statement() ([]byte, error) {
	if r.Evidence.Proof == nil || r.Checks == nil {
		return nil, fault.New(pawl.ErrNotFound, "the gate has not run on this mission yet, so there is no evidence").Hint("Run `pawl mission status` to see its progress.")
	}
	return r.Evidence.Proof.Statement(*r.Checks)
}
