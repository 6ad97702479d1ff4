package tool

import (
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sandbox"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/workspace/transaction"
)

// InterruptedBash returns the result of a bash call that has none, because Pawl was
// stopped, from the outcome of its command. Only effects outside of the workspace's view
// are unknown.
func InterruptedBash(rec transaction.Record) (pawl.CallStatus, pawl.Result) {
	status, text := pawl.CallCanceled, "Pawl was stopped while this command ran. None of its changes to the workspace were applied."
	switch {
	case rec.Ended && rec.Files > 0:
		status, text = pawl.CallDone, "Pawl was stopped before it recorded the result of this command. "+
			"The command had ended, and its changes were applied: "+humanize.Plural(rec.Files, "file")+". Its output and exit code are lost."
	case rec.Ended:
		status, text = pawl.CallDone, "Pawl was stopped before it recorded the result of this command. "+
			"The command had ended, and no changes were applied. Its output and exit code are lost."
	}
	switch {
	case len(rec.Outside) > 0:
		status = pawl.CallUnknown
		text += " It was not run again. It could change things at " + sanitize.Line(strings.Join(rec.Outside, ", ")) +
			": the outcome there is unknown. Inspect the current state before you continue."
	case !rec.Ended:
		text += " You can run it again."
	}
	r := pawl.Result{Content: text, IsError: true}
	for _, path := range rec.Changed {
		r.Changed = append(r.Changed, sanitize.Line(path))
	}
	refused := make([]sandbox.Refusal, len(rec.Refused))
	for i, one := range rec.Refused {
		refused[i] = sandbox.Refusal(one)
	}
	reportRefused(&r, refused)
	closing(&r)
	return status, r
}
