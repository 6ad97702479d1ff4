package lineui

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// maxOutputs is how many results of calls can be asked for.
const maxOutputs = 50

// output is what came of a call.
type output struct {
	session pawl.SessionID
	title   string
	result  pawl.Result
}

// teller says what happens in a session, as its events come.
type teller struct {
	voice     *voice
	dir       string // of the session
	reasoning bool   // what the model thinks is said too

	text, thought *speech // the reply that is written; nil between replies
	last          string  // the newest reply's text

	prompts map[pawl.Seq]string // that were accepted and not taken in
	own     map[pawl.Seq]bool   // those that were typed here
	orders  map[pawl.Seq]pawl.Revert
	ordered map[pawl.Seq]bool      // what was ordered here and is not done yet
	calls   map[pawl.CallID]string // of the turn: what they are called
	shells  map[pawl.Seq]string    // commands of the person that wait or run
	outputs []output               // the newest last

	open  bool // a turn is
	began time.Time
	tools int
}

func newTeller(v *voice, dir string) *teller {
	return &teller{voice: v, dir: dir, prompts: map[pawl.Seq]string{}, own: map[pawl.Seq]bool{}, orders: map[pawl.Seq]pawl.Revert{}, ordered: map[pawl.Seq]bool{}, calls: map[pawl.CallID]string{}, shells: map[pawl.Seq]string{}}
}

// working reports whether there is work that a person waits for.
func (t *teller) working() bool { return t.open || len(t.prompts) > 0 || len(t.shells) > 0 }

// sent takes note of a prompt that was typed here.
func (t *teller) sent(prompt pawl.Seq, text string) {
	t.own[prompt], t.prompts[prompt] = true, text
}

// event says what an event tells.
func (t *teller) event(e pawl.Event) {
	t.waits(e)
	switch b := e.Body.(type) {
	case pawl.TurnStarted:
		t.open, t.began, t.tools = true, e.At, 0
		t.taken(b.Prompt, "you")
	case pawl.Injected:
		t.injected(b)
	case pawl.ReplyStarted:
		t.endReply()
	case pawl.Delta:
		t.grow(b)
	case pawl.Retried:
		t.endReply()
		t.voice.say("retry: %s: %s; asking %s again in %s", b.Kind, name(b.Message), name(b.Model), took(b.Wait))
	case pawl.Replied:
		t.replied(b)
	case pawl.TurnFinished:
		t.finished(e, b)
	case pawl.CallStarted, pawl.CallFinished, pawl.Spawned, pawl.TodosSet:
		t.ofCall(e)
	case pawl.ShellAsked, pawl.ShellStarted, pawl.ShellRan:
		t.ofShell(e)
	default:
		t.beside(e)
	}
}

// waits takes note of the prompts that wait.
func (t *teller) waits(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Prompted:
		t.prompts[e.Seq] = b.Parts.Text()
	case pawl.Reworded:
		t.prompts[b.Prompt] = b.Parts.Text()
	case pawl.Withdrawn:
		delete(t.prompts, b.Prompt)
	default: // changes nothing about them, or is told
	}
}

// skip takes note of what an event before all that is told leaves waiting.
func (t *teller) skip(e pawl.Event) {
	t.waits(e)
	switch b := e.Body.(type) {
	case pawl.TurnStarted:
		delete(t.prompts, b.Prompt)
	case pawl.Injected:
		delete(t.prompts, b.Prompt)
	case pawl.RevertAsked:
		t.orders[e.Seq] = b.Revert
	case pawl.ShellAsked:
		t.shells[e.Seq] = b.Command
	case pawl.ShellRan:
		delete(t.shells, b.Asked)
	default: // leaves nothing
	}
}

// taken says a prompt that the model reads now, unless the person has just typed it.
func (t *teller) taken(prompt pawl.Seq, word string) {
	text := t.prompts[prompt]
	delete(t.prompts, prompt)
	if t.own[prompt] && word == "you" {
		return
	}
	s := newSpeech(t.voice, word)
	s.add(text)
	s.end()
}

func (t *teller) injected(b pawl.Injected) {
	switch {
	case b.Prompt != 0:
		t.taken(b.Prompt, "read")
	case b.Child != "":
		t.voice.say("task: one in the background came back")
	default:
		t.voice.say("note: the model was told (%s): %s", name(b.Source), name(b.Text))
	}
}

// grow says a piece of the reply. After one that was missed, the reply tells the rest.
func (t *teller) grow(b pawl.Delta) {
	switch {
	case b.Channel == pawl.ChannelText:
		if t.text == nil {
			t.endThought()
			t.text = newSpeech(t.voice, "pawl")
		}
		if b.Offset == t.text.came {
			t.text.add(b.Text)
		}
	case t.reasoning && b.Channel == pawl.ChannelReasoning && t.text == nil:
		if t.thought == nil {
			t.thought = newSpeech(t.voice, "thinks")
		}
		if b.Offset == t.thought.came {
			t.thought.add(b.Text)
		}
	}
}

// replied says what was not said yet of a reply.
func (t *teller) replied(b pawl.Replied) {
	thought := ""
	for _, p := range b.Parts {
		if r, ok := p.(pawl.Reasoning); ok {
			thought += r.Text
		}
	}
	t.rest(pawl.ChannelReasoning, thought, t.thought)
	text := b.Parts.Text()
	t.rest(pawl.ChannelText, text, t.text)
	t.endReply()
	if text != "" {
		t.last = text
	}
	for _, c := range b.Parts.Calls() {
		t.calls[c.ID] = name(c.Name)
	}
}

// rest says the end of a text that was said in part.
func (t *teller) rest(channel pawl.Channel, text string, s *speech) {
	from := 0
	if s != nil {
		from = s.came
	}
	if from < len(text) {
		t.grow(pawl.Delta{Channel: channel, Offset: from, Text: text[from:]})
	}
}

func (t *teller) endThought() {
	if t.thought != nil {
		t.thought.end()
	}
	t.thought = nil
}

func (t *teller) endReply() {
	t.endThought()
	if t.text != nil {
		t.text.end()
	}
	t.text = nil
}

// finished says how the turn ended, and what it took.
func (t *teller) finished(e pawl.Event, b pawl.TurnFinished) {
	t.endReply()
	var sum []string
	if t.tools > 0 {
		sum = append(sum, humanize.Plural(t.tools, "tool"))
	}
	if b.Usage.Cost > 0 {
		sum = append(sum, humanize.Dollars(b.Usage.Cost))
	}
	if !t.began.IsZero() {
		sum = append(sum, took(e.At.Sub(t.began)))
	}
	switch b.Reason {
	case pawl.ReasonEndTurn:
		t.voice.say("done: %s", strings.Join(sum, ", "))
	case pawl.ReasonCanceled:
		t.voice.say("interrupted: %s", strings.Join(sum, ", "))
	default:
		why := strings.ReplaceAll(string(b.Reason), "_", " ")
		if b.Message != "" {
			why = name(b.Message)
		}
		t.voice.say("ended: %s (%s)", why, strings.Join(sum, ", "))
	}
	if next := nextOf(b); next != "" {
		t.voice.say("next: %s", next)
	}
	t.open = false
	clear(t.calls)
}

// beside takes the events that are not of a turn. Of all others there is nothing
// to say.
func (t *teller) beside(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.ModeChanged:
		t.voice.say("mode: %s", name(b.Mode))
	case pawl.Compacted:
		delete(t.ordered, b.Asked)
		if b.Message != "" {
			t.voice.say("compacting: %s", name(b.Message))
		}
		if b.Keep != 0 {
			t.voice.say("compacted: the conversation before this is a summary; about %d tokens are now %d", b.Before, b.After)
		}
	case pawl.RevertAsked:
		t.orders[e.Seq] = b.Revert
	case pawl.Reverted:
		t.reverted(b)
	case pawl.Status:
		t.status(b)
	default:
		if line, _ := humanize.Mission(e.Body); line != "" {
			t.endReply()
			t.voice.say("mission: %s", line)
		}
	}
}

func (t *teller) status(b pawl.Status) {
	if b.State != "interrupted" {
		t.voice.say("note: %s", name(b.Message))
		return
	}
	t.endReply()
	t.voice.say("stopped: %s", name(b.Message))
	t.voice.say("next: the session is kept: send a prompt to go on")
	t.open = false
	clear(t.prompts)
	clear(t.ordered)
}

// reverted says what an undo or redo has done.
func (t *teller) reverted(b pawl.Reverted) {
	delete(t.ordered, b.Asked)
	if b.Refused != "" {
		t.voice.say("not undone: %s", name(b.Refused))
		return
	}
	what := "undone"
	if t.orders[b.Asked].Redo != 0 {
		what = "redone"
	}
	t.voice.say("%s: %s put back", what, humanize.Plural(len(b.Changed), "file"))
	for _, path := range slices.Sorted(maps.Keys(b.Aside)) {
		t.voice.say("%s: the version of %s that was here is kept as %s", what, name(path), name(b.Aside[path]))
	}
	for _, path := range b.Left {
		t.voice.say("%s: %s is left as it is", what, name(path))
	}
}

// ofCall takes the events of calls.
func (t *teller) ofCall(e pawl.Event) {
	switch b := e.Body.(type) { //nolint:gochecksumtype // a part of event
	case pawl.CallStarted:
		t.calls[b.Call] = name(b.Tool)
		t.voice.say("tool: %s", t.described(b))
	case pawl.CallFinished:
		t.called(e, b)
	case pawl.Spawned:
		t.voice.say("task: %s: %s", name(b.Agent), name(b.Title))
	case pawl.TodosSet:
		t.todos(b.Todos)
	}
}

// described is a call on one line: the tool and what it touches.
func (t *teller) described(b pawl.CallStarted) string {
	var targets []string
	for _, a := range b.Access {
		target := a.Target
		if inside, ok := strings.CutPrefix(target, t.dir+"/"); ok && t.dir != "" {
			target = inside
		}
		if !slices.Contains(targets, target) {
			targets = append(targets, target)
		}
	}
	if len(targets) == 0 {
		return name(b.Tool)
	}
	return name(b.Tool) + ": " + name(strings.Join(targets, " "))
}

// called says what came of a call.
func (t *teller) called(e pawl.Event, b pawl.CallFinished) {
	tool := t.calls[b.Call]
	if tool == "" {
		tool = "a call"
	}
	t.keep(output{e.Session, tool, b.Result})
	lines := lineCount(b.Result.Content)
	if b.Result.Spill != nil {
		lines = fmt.Sprintf("%d bytes of output", b.Result.Spill.Size)
	}
	switch b.Status {
	case pawl.CallDone:
		t.tools++
		how := "done"
		if b.Result.IsError {
			how = "failed"
		}
		if code := b.Result.Meta["exit_code"]; code != "" && code != "0" {
			how += ", exit code " + name(code)
		}
		t.voice.say("tool: %s %s, %s", tool, how, lines)
	case pawl.CallUnknown:
		t.voice.say("tool: %s: pawl ended while it ran, and nobody knows how far it got", tool)
	default:
		t.voice.say("tool: %s %s: %s", tool, b.Status, name(b.Result.Content))
	}
}

func (t *teller) todos(list []pawl.Todo) {
	done, now := 0, ""
	for _, todo := range list {
		switch todo.Status {
		case pawl.TodoCompleted:
			done++
		case pawl.TodoInProgress:
			now = "; now: " + name(todo.Content)
		case pawl.TodoPending, pawl.TodoCanceled:
		}
	}
	t.voice.say("todo: %d of %d done%s", done, len(list), now)
}
