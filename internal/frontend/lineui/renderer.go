package lineui

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// maxOutputs is how many results are kept for /output.
const maxOutputs = 50

// output is the result of a call.
type output struct {
	session pawl.SessionID
	title   string
	result  pawl.Result
}

// renderer prints a session's events as they arrive.
type renderer struct {
	out           *printer
	dir           string // of the session; paths below it are shortened
	showReasoning bool   // print the model's reasoning too

	text, reasoningText *sentenceWriter // the reply being streamed; nil between replies
	last                string          // text of the last reply

	prompts       map[pawl.Seq]string // accepted prompts that the model has not read yet
	typedHere     map[pawl.Seq]bool   // prompts that were typed in this process
	undos         map[pawl.Seq]pawl.Undo
	pendingOrders map[pawl.Seq]bool      // orders of this process that have no result yet
	calls         map[pawl.CallID]string // tool names of the current turn's calls
	shells        map[pawl.Seq]string    // the user's commands that wait or run
	outputs       []output               // newest last

	turnOpen    bool // a turn is running
	turnStarted time.Time
	toolCalls   int
}

func newRenderer(v *printer, dir string) *renderer {
	return &renderer{out: v, dir: dir, prompts: map[pawl.Seq]string{}, typedHere: map[pawl.Seq]bool{}, undos: map[pawl.Seq]pawl.Undo{}, pendingOrders: map[pawl.Seq]bool{}, calls: map[pawl.CallID]string{}, shells: map[pawl.Seq]string{}}
}

// working reports whether the user waits for something: a turn, a prompt or a command.
func (r *renderer) working() bool { return r.turnOpen || len(r.prompts) > 0 || len(r.shells) > 0 }

// promptSent records a prompt that was typed in this process.
func (r *renderer) promptSent(prompt pawl.Seq, text string) {
	r.typedHere[prompt], r.prompts[prompt] = true, text
}

// event renders an event.
func (r *renderer) event(e pawl.Event) {
	r.trackPrompts(e)
	switch b := e.Body.(type) {
	case pawl.TurnStarted:
		r.turnOpen, r.turnStarted, r.toolCalls = true, e.At, 0
		r.promptTaken(b.Prompt, "you")
	case pawl.Injected:
		r.injected(b)
	case pawl.ReplyStarted:
		r.endReply()
	case pawl.Delta:
		r.delta(b)
	case pawl.Retried:
		r.endReply()
		r.out.printf("retry: %s: %s; retrying with %s in %s", b.Kind, sanitizeLine(b.Message), sanitizeLine(b.Model), formatDuration(b.Wait))
	case pawl.Replied:
		r.replied(b)
	case pawl.TurnFinished:
		r.finished(e, b)
	case pawl.CallStarted, pawl.CallFinished, pawl.Spawned, pawl.TodosSet:
		r.callEvent(e)
	case pawl.ShellAsked, pawl.ShellStarted, pawl.ShellRan:
		r.shellEvent(e)
	default:
		r.sessionEvent(e)
	}
}

// trackPrompts keeps the list of waiting prompts.
func (r *renderer) trackPrompts(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Prompted:
		r.prompts[e.Seq] = b.Parts.Text()
	case pawl.Reworded:
		r.prompts[b.Prompt] = b.Parts.Text()
	case pawl.Withdrawn:
		delete(r.prompts, b.Prompt)
	default: // no effect on prompts, or handled by event
	}
}

// skip updates the state for an event that is not printed.
func (r *renderer) skip(e pawl.Event) {
	r.trackPrompts(e)
	switch b := e.Body.(type) {
	case pawl.TurnStarted:
		delete(r.prompts, b.Prompt)
	case pawl.Injected:
		delete(r.prompts, b.Prompt)
	case pawl.UndoAsked:
		r.undos[e.Seq] = b.Undo
	case pawl.ShellAsked:
		r.shells[e.Seq] = b.Command
	case pawl.ShellRan:
		delete(r.shells, b.Asked)
	default: // no effect on the state
	}
}

// promptTaken prints a prompt that the model reads now, unless it was just typed here.
func (r *renderer) promptTaken(prompt pawl.Seq, word string) {
	text := r.prompts[prompt]
	delete(r.prompts, prompt)
	if r.typedHere[prompt] && word == "you" {
		return
	}
	s := newSentenceWriter(r.out, word)
	s.write(text)
	s.end()
}

func (r *renderer) injected(b pawl.Injected) {
	switch {
	case b.Prompt != 0:
		r.promptTaken(b.Prompt, "read")
	case b.Subagent != "":
		r.out.printf("subagent: a background subagent finished")
	default:
		r.out.printf("note: added to the conversation (%s): %s", sanitizeLine(b.Source), sanitizeLine(b.Text))
	}
}

// delta prints a piece of the reply. After a gap it prints nothing more: replied
// prints the rest.
func (r *renderer) delta(b pawl.Delta) {
	switch {
	case b.Channel == pawl.ChannelText:
		if r.text == nil {
			r.endReasoning()
			r.text = newSentenceWriter(r.out, "pawl")
		}
		if b.Offset == r.text.received {
			r.text.write(b.Text)
		}
	case r.showReasoning && b.Channel == pawl.ChannelReasoning && r.text == nil:
		if r.reasoningText == nil {
			r.reasoningText = newSentenceWriter(r.out, "thinking")
		}
		if b.Offset == r.reasoningText.received {
			r.reasoningText.write(b.Text)
		}
	}
}

// replied prints what was not printed yet of a reply.
func (r *renderer) replied(b pawl.Replied) {
	reasoning := ""
	for _, p := range b.Parts {
		if r, ok := p.(pawl.Reasoning); ok {
			reasoning += r.Text
		}
	}
	r.finishText(pawl.ChannelReasoning, reasoning, r.reasoningText)
	text := b.Parts.Text()
	r.finishText(pawl.ChannelText, text, r.text)
	r.endReply()
	if text != "" {
		r.last = text
	}
	for _, c := range b.Parts.Calls() {
		r.calls[c.ID] = sanitizeLine(c.Name)
	}
}

// finishText prints the rest of a partly printed text.
func (r *renderer) finishText(channel pawl.Channel, text string, s *sentenceWriter) {
	from := 0
	if s != nil {
		from = s.received
	}
	if from < len(text) {
		r.delta(pawl.Delta{Channel: channel, Offset: from, Text: text[from:]})
	}
}

func (r *renderer) endReasoning() {
	if r.reasoningText != nil {
		r.reasoningText.end()
	}
	r.reasoningText = nil
}

func (r *renderer) endReply() {
	r.endReasoning()
	if r.text != nil {
		r.text.end()
	}
	r.text = nil
}

// finished prints how the turn ended, its tool calls, cost and duration.
func (r *renderer) finished(e pawl.Event, b pawl.TurnFinished) {
	r.endReply()
	var sum []string
	if r.toolCalls > 0 {
		sum = append(sum, humanize.Plural(r.toolCalls, "tool call"))
	}
	if b.Usage.Cost > 0 {
		sum = append(sum, humanize.Dollars(b.Usage.Cost))
	}
	if !r.turnStarted.IsZero() {
		sum = append(sum, formatDuration(e.At.Sub(r.turnStarted)))
	}
	switch b.Reason {
	case pawl.ReasonEndTurn:
		r.out.printf("done: %s", strings.Join(sum, ", "))
	case pawl.ReasonCanceled:
		r.out.printf("canceled: %s", strings.Join(sum, ", "))
	default:
		why := strings.ReplaceAll(string(b.Reason), "_", " ")
		if b.Message != "" {
			why = sanitizeLine(b.Message)
		}
		r.out.printf("stopped: %s (%s)", why, strings.Join(sum, ", "))
	}
	if next := nextStep(b); next != "" {
		r.out.printf("next: %s", next)
	}
	r.turnOpen = false
	clear(r.calls)
}

// sessionEvent renders the events outside of turns; it ignores those that need no
// output.
func (r *renderer) sessionEvent(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.ModeChanged:
		r.out.printf("mode: %s", sanitizeLine(b.Mode))
	case pawl.Compacted:
		delete(r.pendingOrders, b.Asked)
		if b.Message != "" {
			r.out.printf("compacting: %s", sanitizeLine(b.Message))
		}
		if b.Keep != 0 {
			r.out.printf("compacted: from about %d to %d tokens", b.Before, b.After)
		}
	case pawl.UndoAsked:
		r.undos[e.Seq] = b.Undo
	case pawl.Undone:
		r.undone(b)
	case pawl.Status:
		r.status(b)
	default:
		if line, _ := humanize.Mission(e.Body); line != "" {
			r.endReply()
			r.out.printf("mission: %s", line)
		}
	}
}

func (r *renderer) status(b pawl.Status) {
	if b.State != "interrupted" {
		r.out.printf("note: %s", sanitizeLine(b.Message))
		return
	}
	r.endReply()
	r.out.printf("stopped: %s", sanitizeLine(b.Message))
	r.out.printf("next: the session is saved; send a prompt to continue")
	r.turnOpen = false
	clear(r.prompts)
	clear(r.pendingOrders)
}

// undone prints the result of an undo or redo.
func (r *renderer) undone(b pawl.Undone) {
	delete(r.pendingOrders, b.Asked)
	if b.Refused != "" {
		r.out.printf("not undone: %s", sanitizeLine(b.Refused))
		return
	}
	what := "undone"
	if r.undos[b.Asked].Redo != 0 {
		what = "redone"
	}
	r.out.printf("%s: %s restored", what, humanize.Plural(len(b.Changed), "file"))
	for _, path := range slices.Sorted(maps.Keys(b.Aside)) {
		r.out.printf("%s: %s had other changes, which are in %s", what, sanitizeLine(path), sanitizeLine(b.Aside[path]))
	}
	for _, path := range b.Left {
		r.out.printf("%s: %s is unchanged", what, sanitizeLine(path))
	}
}

// callEvent renders the events of tool calls.
func (r *renderer) callEvent(e pawl.Event) {
	switch b := e.Body.(type) { //nolint:gochecksumtype // a part of event
	case pawl.CallStarted:
		r.calls[b.Call] = sanitizeLine(b.Tool)
		r.out.printf("tool: %s", r.describeCall(b))
	case pawl.CallFinished:
		r.callFinished(e, b)
	case pawl.Spawned:
		r.out.printf("subagent: %s: %s", sanitizeLine(b.Agent), sanitizeLine(b.Title))
	case pawl.TodosSet:
		r.todos(b.Todos)
	}
}

// describeCall returns a call on one line: the tool and its targets.
func (r *renderer) describeCall(b pawl.CallStarted) string {
	var targets []string
	for _, a := range b.Access {
		target := a.Target
		if inside, ok := strings.CutPrefix(target, r.dir+"/"); ok && r.dir != "" {
			target = inside
		}
		if !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	if len(targets) == 0 {
		return sanitizeLine(b.Tool)
	}
	return sanitizeLine(b.Tool) + ": " + sanitizeLine(strings.Join(targets, " "))
}

// callFinished prints the result of a call.
func (r *renderer) callFinished(e pawl.Event, b pawl.CallFinished) {
	tool := r.calls[b.Call]
	if tool == "" {
		tool = "tool call"
	}
	r.keepOutput(output{e.Session, tool, b.Result})
	lines := lineCount(b.Result.Content)
	if b.Result.Full != nil {
		lines = humanize.Bytes(b.Result.Full.Size) + " of output"
	}
	switch b.Status {
	case pawl.CallDone:
		r.toolCalls++
		how := "done"
		if b.Result.IsError {
			how = "failed"
		}
		if code := b.Result.Meta["exit_code"]; code != "" && code != "0" {
			how += ", exit code " + sanitizeLine(code)
		}
		r.out.printf("tool: %s %s, %s", tool, how, lines)
		for _, text := range b.Result.Refused {
			r.out.printf("warning: %s", sanitizeLine(text))
		}
	case pawl.CallUnknown:
		r.out.printf("tool: %s: outcome unknown, because Pawl exited while it ran", tool)
	default:
		r.out.printf("tool: %s %s: %s", tool, b.Status, sanitizeLine(b.Result.Content))
	}
}

func (r *renderer) todos(list []pawl.Todo) {
	done, now := 0, ""
	for _, todo := range list {
		switch todo.Status {
		case pawl.TodoCompleted:
			done++
		case pawl.TodoInProgress:
			now = "; now: " + sanitizeLine(todo.Content)
		case pawl.TodoPending, pawl.TodoCanceled:
		}
	}
	r.out.printf("todo: %d of %d done%s", done, len(list), now)
}
