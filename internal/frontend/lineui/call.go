package lineui

import (
	"cmp"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// maxCommandLines is how many lines of a user's shell command are printed; /output
// prints all.
const maxCommandLines = 60

// call prints that a call has started or finished. before is its state before that.
func (r *Renderer) call(it transcript.Item, before transcript.State) {
	if it.State == transcript.StateWaiting {
		return
	}
	if before != transcript.StateRunning {
		r.start(it.Call)
	}
	switch {
	case it.State == transcript.StateRunning:
	case it.Call.User:
		r.commandResult(it.Call)
	default:
		r.result(it.Call)
	}
}

// start prints a call that has started, or a command even if it was denied.
func (r *Renderer) start(c *transcript.Call) {
	switch {
	case c.User:
		r.out.line("command", r.targets(c))
	case !c.Started.IsZero():
		r.out.line("tool", strings.TrimSuffix(sanitizeLine(c.Tool)+": "+r.targets(c), ": "))
	}
}

// targets returns what a call reads, changes or runs, on one line.
func (r *Renderer) targets(c *transcript.Call) string {
	var list []string
	for _, target := range c.Targets {
		if inside, ok := strings.CutPrefix(target, r.dir+"/"); ok && r.dir != "" {
			target = inside
		}
		list = append(list, target)
	}
	return sanitizeLine(strings.Join(list, " "))
}

// result prints the result of a tool call.
func (r *Renderer) result(c *transcript.Call) {
	tool := cmp.Or(sanitizeLine(c.Tool), "tool call")
	switch c.Status {
	case pawl.CallDone:
		r.results++
		how := "done"
		if c.Result.IsError {
			how = "failed"
		}
		r.out.line("tool", tool+" "+how+exitCode(c.Result)+", "+size(c.Result))
		for _, text := range c.Result.Refused {
			r.out.line("warning", sanitizeLine(text))
		}
	default:
		r.out.line("tool", tool+unfinished(c))
	}
}

// commandResult prints the result of a command that the user ran.
func (r *Renderer) commandResult(c *transcript.Call) {
	if c.Status != pawl.CallDone {
		r.out.line("command", strings.TrimLeft(unfinished(c), ": "))
		return
	}
	lines := strings.Split(strings.TrimRight(c.Result.Content, "\n"), "\n")
	if left := len(lines) - maxCommandLines; left > 0 {
		r.out.printf("command: %s; /output prints all", humanize.Plural(left, "earlier line"))
		lines = lines[left:]
	}
	r.out.block(strings.Join(lines, "\n"))
	how := "done"
	if code := exitCode(c.Result); code != "" {
		how = "failed" + code
	}
	r.out.printf("command: %s; the model sees the output with your next prompt", how)
}

// exitCode describes the exit code of a command that failed, or returns "".
func exitCode(result pawl.Result) string {
	if code := result.Meta["exit_code"]; code != "" && code != "0" {
		return ", exit code " + sanitizeLine(code)
	}
	return ""
}

// unfinished says why a call has no outcome.
func unfinished(c *transcript.Call) string {
	if c.Status == pawl.CallUnknown {
		return ": outcome unknown, because Pawl exited while it ran"
	}
	return " " + string(c.Status) + ": " + sanitizeLine(c.Result.Content)
}

// size describes how long the output of a call is.
func size(result pawl.Result) string {
	if result.Full != nil {
		return humanize.Bytes(result.Full.Size) + " of output"
	}
	return lineCount(result.Content)
}
