package gate

import (
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl/internal/mission/gate/experiment"
)

// issue is a finding or a survivor as code scanners and CI systems show it.
type issue struct {
	level string // error, warning or note
	rule  string
	path  string // "" if it is about no file
	line  int    // 0 means the whole file
	text  string
}

// issues returns the findings and survivors, the worst first.
func (p Proof) issues() (list []issue) {
	levels := map[experiment.Kind]string{experiment.Failure: "error", experiment.Question: "warning", experiment.Gap: "warning", experiment.Note: "note"}
	var notes []issue
	for _, f := range p.Findings {
		i := issue{levels[f.Kind], f.Rule, f.Path, f.Line, f.Text}
		if f.Approve != "" {
			i.text = strings.TrimSpace(i.text) + "\nApprove it with --allow-test '" + f.Approve + "'."
		}
		if f.Kind == experiment.Note {
			notes = append(notes, i)
		} else {
			list = append(list, i)
		}
	}
	level := "warning"
	if p.Verdict == experiment.Proven {
		level = "note"
	}
	for _, s := range p.Mutants.Survived {
		list = append(list, issue{level, survivor, s.Path, s.Line, fmt.Sprintf("No test notices this mistake (%s): %s", s.Operator, strings.TrimSpace(s.After))})
	}
	return append(list, notes...)
}

// survivor is the rule of mutants that no test noticed.
const survivor = "survivor"
