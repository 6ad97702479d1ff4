package mission

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/mission"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// maxBoardLines is the maximum number of lines in each list below the tasks.
const maxBoardLines = 12

// board is the state of a mission at a point in time, for display.
type board struct {
	pawl.Board

	limits   pawl.Settings     // settings of the newest prompt
	forecast *mission.Forecast // nil without earlier missions
	now      time.Time
}

// text returns the board as text.
func (b board) text() string {
	var out strings.Builder
	m := b.Mission
	fmt.Fprintf(&out, "%s  %s  %s\n%s\n", b.Session.ID, stateText(b.State), humanize.Clock(b.elapsed()), humanize.FirstLine(m.Order.Goal, 200))
	if b.State == pawl.MissionStopped {
		out.WriteString("No process is working on it. Run `pawl mission resume` to continue.\n")
	}
	switch {
	case b.State == pawl.MissionPaused:
		fmt.Fprintf(&out, "It is paused. Run `pawl mission resume %s` to continue.\n", b.Session.ID)
	case m.Paused > 0 && b.State == pawl.MissionWorking:
		fmt.Fprintf(&out, "It pauses when the workers that run have finished (%d). Run `pawl mission resume %s` to continue after that.\n", len(m.In(pawl.PhaseRunning)), b.Session.ID)
	case b.State == pawl.MissionPlanned:
		fmt.Fprintf(&out, "The plan waits for approval. Read it with `pawl mission plan %[1]s`, then run `pawl mission approve %[1]s`.\n", b.Session.ID)
	case m.Blocked != nil:
		fmt.Fprintf(&out, "blocked by %s: %s\n", sanitize.Line(m.Blocked.By), humanize.FirstLine(m.Blocked.Reason, 500))
	}
	if len(m.Tasks) > 0 {
		out.WriteString("\n")
		b.tasks(&out)
	}
	out.WriteString("\n")
	if m.Branch != "" {
		fmt.Fprintf(&out, "branch: %s at %s\n", sanitize.Line(m.Branch), humanize.Commit(m.Tip))
	}
	fmt.Fprintf(&out, "cost: %s\n", b.spent())
	if b.forecast != nil {
		fmt.Fprintln(&out, b.forecast)
	}
	b.checks(&out)
	b.faults(&out)
	if m.Sealed != nil {
		fmt.Fprintf(&out, "sealed: %s in round %d\n", humanize.Commit(m.Sealed.Candidate), m.Sealed.Round)
	}
	return out.String()
}

// elapsed returns how long the mission has been running, or ran until its last update.
func (b board) elapsed() time.Duration {
	if b.State == pawl.MissionWorking {
		return b.now.Sub(b.Mission.Began)
	}
	return b.Session.Updated.Sub(b.Mission.Began)
}

func (b board) tasks(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "TASK\tSTATE\tATTEMPT\tTIME\tCOST\tTOKENS\tWORKER\tTITLE")
	for _, s := range b.Mission.Tasks {
		try, long, cost, tokens, who := "-", "-", "-", "-", "-"
		if s.Attempt > 0 {
			try, who = fmt.Sprint(s.Attempt), string(s.Worker)
			long, cost, tokens = humanize.Clock(b.took(s)), humanize.Dollars(s.Usage.Cost), humanize.Short(s.Usage.Tokens())
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", sanitize.Line(s.Task.ID), s.Phase, try, long, cost, tokens, who, humanize.FirstLine(s.Task.Title, 60))
	}
	_ = t.Flush() // writing to memory does not fail
	for _, s := range b.Mission.Tasks {
		if s.Why != "" && s.Phase != pawl.PhaseDropped {
			fmt.Fprintf(w, "%s returned: %s: %s\n", sanitize.Line(s.Task.ID), s.Why, humanize.FirstLine(s.Text, 200))
		}
	}
}

// took returns how long all attempts at a task have taken together.
func (b board) took(s pawl.TaskState) time.Duration {
	if s.Phase == pawl.PhaseRunning {
		return s.Took + b.now.Sub(s.Began)
	}
	return s.Took
}

// spent describes what the whole team has used, and the limits of a turn.
func (b board) spent() string {
	text := fmt.Sprintf("%s, %s tokens, %s", humanize.Dollars(b.Usage.Cost), humanize.Short(b.Usage.Tokens()), humanize.Plural(1+len(b.Team), "session"))
	var limits []string
	if c := b.limits.MaxCost; c > 0 {
		limits = append(limits, humanize.Dollars(c))
	}
	if n := b.limits.MaxTokens; n > 0 {
		limits = append(limits, humanize.Short(n)+" tokens")
	}
	if d := b.limits.MaxTime; d > 0 {
		limits = append(limits, humanize.Clock(d))
	}
	if len(limits) == 0 {
		return text
	}
	return text + " (limits per turn: " + strings.Join(limits, ", ") + ")"
}

// checks prints the newest check runs. Runs on the base are shown only before the first round of the gate.
func (b board) checks(w io.Writer) {
	runs := b.Mission.Runs
	for _, r := range runs[max(0, len(runs)-maxBoardLines):] {
		if line, _ := humanize.Mission(r); b.Mission.Round == 0 || r.On != "base" {
			fmt.Fprintf(w, "check: %s\n", line)
		}
	}
}

// faults prints the faults of the newest gate result.
func (b board) faults(w io.Writer) {
	j := b.Mission.Gate
	if j == nil {
		return
	}
	for i, f := range j.Faults {
		if i == maxBoardLines {
			fmt.Fprintf(w, "problem: and %d more\n", len(j.Faults)-i)
			break
		}
		fmt.Fprintf(w, "problem: %s: %s\n", sanitize.Line(f.Rule), humanize.FirstLine(f.Text, 300))
	}
}
