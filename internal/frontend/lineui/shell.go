package lineui

import (
	"strings"

	"github.com/pawl-dev/pawl"
)

// maxHeard is how many lines of their own command's output a person hears at once;
// /output has the rest.
const maxHeard = 60

// ofShell says what becomes of commands that the person runs.
func (t *teller) ofShell(e pawl.Event) {
	switch b := e.Body.(type) { //nolint:gochecksumtype // a part of event
	case pawl.ShellAsked:
		t.shells[e.Seq] = b.Command
		if t.open {
			t.voice.say("command: it waits until nothing else runs")
		}
	case pawl.ShellStarted:
		t.voice.say("command: %s", name(t.shells[b.Asked]))
	case pawl.ShellRan:
		delete(t.shells, b.Asked)
		t.ran(e, b)
	}
}

// ran says what came of a command.
func (t *teller) ran(e pawl.Event, b pawl.ShellRan) {
	t.keep(output{e.Session, "your command", b.Result})
	switch b.Status {
	case pawl.CallDone:
		lines := strings.Split(strings.TrimRight(b.Result.Content, "\n"), "\n")
		if len(lines) > maxHeard {
			t.voice.say("command: %d lines come before these; /output says all", len(lines)-maxHeard)
			lines = lines[len(lines)-maxHeard:]
		}
		t.voice.block(strings.Join(lines, "\n"))
		how := "done"
		if code := b.Result.Meta["exit_code"]; code != "" && code != "0" {
			how = "failed, exit code " + name(code)
		}
		t.voice.say("command: %s, the model reads it with your next prompt", how)
	case pawl.CallUnknown:
		t.voice.say("command: pawl ended while it ran, and nobody knows how far it got")
	default:
		t.voice.say("command: %s: %s", b.Status, name(b.Result.Content))
	}
}

// keep keeps an output, for who wants to hear all of it.
func (t *teller) keep(o output) {
	if t.outputs = append(t.outputs, o); len(t.outputs) > maxOutputs {
		t.outputs = t.outputs[1:]
	}
}
