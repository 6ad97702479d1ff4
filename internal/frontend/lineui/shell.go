package lineui

import (
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// maxShellLines is how many lines of a user's shell command are printed; /output
// prints all.
const maxShellLines = 60

// shellEvent renders the events of shell commands that the user runs.
func (r *renderer) shellEvent(e pawl.Event) {
	switch b := e.Body.(type) { //nolint:gochecksumtype // a part of event
	case pawl.ShellAsked:
		r.shells[e.Seq] = b.Command
		if r.turnOpen {
			r.out.printf("command: waiting for the turn to end")
		}
	case pawl.ShellStarted:
		r.out.printf("command: %s", sanitizeLine(r.shells[b.Asked]))
	case pawl.ShellRan:
		delete(r.shells, b.Asked)
		r.shellRan(e, b)
	}
}

// shellRan prints the result of a shell command.
func (r *renderer) shellRan(e pawl.Event, b pawl.ShellRan) {
	r.keepOutput(output{e.Session, "your command", b.Result})
	switch b.Status {
	case pawl.CallDone:
		lines := strings.Split(strings.TrimRight(b.Result.Content, "\n"), "\n")
		if len(lines) > maxShellLines {
			r.out.printf("command: %s; /output prints all", humanize.Plural(len(lines)-maxShellLines, "earlier line"))
			lines = lines[len(lines)-maxShellLines:]
		}
		r.out.block(strings.Join(lines, "\n"))
		how := "done"
		if code := b.Result.Meta["exit_code"]; code != "" && code != "0" {
			how = "failed, exit code " + sanitizeLine(code)
		}
		r.out.printf("command: %s; the model sees the output with your next prompt", how)
	case pawl.CallUnknown:
		r.out.printf("command: outcome unknown, because Pawl exited while it ran")
	default:
		r.out.printf("command: %s: %s", b.Status, sanitizeLine(b.Result.Content))
	}
}

// keepOutput keeps an output for /output.
func (r *renderer) keepOutput(o output) {
	if r.outputs = append(r.outputs, o); len(r.outputs) > maxOutputs {
		r.outputs = r.outputs[1:]
	}
}
