package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// renderer turns events into blocks. It keeps what later events need: prompts until
// the model reads them, calls until they have results.
type renderer struct {
	w       writer
	prompts map[pawl.Seq]pawl.Parts
	by      map[pawl.Seq]pawl.Actor // who sent them
	orders  map[pawl.Seq]pawl.Undo
	turns   map[pawl.Seq]int // by TurnStarted
	calls   []pawl.ToolCall
	shells  map[pawl.Seq]string // the user's commands that have no result
}

func newRenderer(w writer) *renderer {
	return &renderer{w: w, prompts: map[pawl.Seq]pawl.Parts{}, by: map[pawl.Seq]pawl.Actor{}, orders: map[pawl.Seq]pawl.Undo{}, turns: map[pawl.Seq]int{}, shells: map[pawl.Seq]string{}}
}

// shown sanitizes a text.
func shown(s string) string {
	return sanitize.Text(s)
}

func (t *renderer) event(e pawl.Event) error {
	switch b := e.Body.(type) {
	case pawl.Prompted:
		t.prompts[e.Seq], t.by[e.Seq] = b.Parts, b.By
	case pawl.Reworded:
		t.prompts[b.Prompt] = b.Parts
	case pawl.Withdrawn:
		delete(t.prompts, b.Prompt)
		return t.note("A waiting prompt was withdrawn", "")
	case pawl.TurnStarted:
		t.turns[e.Seq] = e.Turn
		if err := t.w.block(block{Kind: turnBlock, Label: fmt.Sprintf("Turn %d", e.Turn), Mark: stamp(e.At)}); err != nil {
			return err
		}
		return t.prompt("You", b.Prompt)
	case pawl.Injected:
		if b.Prompt != 0 {
			return t.prompt("You (steering)", b.Prompt)
		}
		return t.say("Pawl to the model", "system", b.Text, nil)
	case pawl.Retried:
		return t.note("Retried", fmt.Sprintf("%s: %s", b.Kind, b.Message))
	case pawl.Replied:
		return t.replied(b)
	case pawl.Asked:
		return t.asked(b)
	case pawl.Answered:
		return t.answered(b)
	case pawl.TodosSet:
		return t.todos(b)
	case pawl.ModeChanged:
		return t.note("Permission mode", b.Mode)
	case pawl.Spawned:
		return t.note("Subagent", fmt.Sprintf("%s %s: %s", b.Subagent, b.Agent, b.Title))
	case pawl.CallFinished:
		return t.finished(b)
	case pawl.TurnFinished:
		return t.ended(e.Turn, b)
	case pawl.CompactionAsked:
		return t.note("You asked to compact the conversation", b.Instructions)
	case pawl.Compacted:
		return t.compacted(b)
	case pawl.UndoAsked:
		t.orders[e.Seq], t.by[e.Seq] = b.Undo, b.By
	case pawl.Undone:
		return t.undone(b)
	case pawl.ShellAsked:
		t.shells[e.Seq], t.by[e.Seq] = b.Command, b.By
	case pawl.ShellRan:
		return t.ran(b)
	case pawl.SessionShared:
		return t.shared(b)
	case pawl.MissionStarted, pawl.Planned, pawl.CriteriaSet, pawl.Delegated, pawl.TaskStarted, pawl.TaskMerged, pawl.TaskReturned, pawl.CheckRan,
		pawl.ReviewStarted, pawl.Reviewed, pawl.GateResult, pawl.Sealed, pawl.Blocked:
		return t.mission(b)
	case pawl.SessionCreated, pawl.SessionTitled, pawl.SessionSummarized: // in the header
	case pawl.ReplyStarted, pawl.CallStarted, pawl.ShellStarted: // the result follows
	case pawl.Delta, pawl.Progress, pawl.Status: // not in the log
	}
	return nil
}

// rest writes what the log leaves unfinished.
func (t *renderer) rest() error {
	for _, c := range t.calls {
		if err := t.w.block(callBlock(c, "no result yet")); err != nil {
			return err
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(t.shells)) {
		if err := t.w.block(t.shellBlock(seq, "not finished")); err != nil {
			return err
		}
	}
	var waiting []pawl.Seq
	for seq := range t.prompts {
		waiting = append(waiting, seq)
	}
	slices.Sort(waiting)
	for _, seq := range waiting {
		if err := t.prompt("You (waiting)", seq); err != nil {
			return err
		}
	}
	return nil
}

func (t *renderer) note(label, name string) error {
	return t.w.block(block{Kind: noteBlock, Label: label, Name: line(name, 1000)})
}

func (t *renderer) say(label, who, text string, files []file) error {
	return t.w.block(block{Kind: sayBlock, Label: label, Who: who, Text: cut(text, maxSaid), Files: files})
}

func (t *renderer) prompt(label string, seq pawl.Seq) error {
	parts := t.prompts[seq]
	delete(t.prompts, seq)
	return t.say(named(label, t.by[seq]), "you", parts.Text(), filesOf(parts))
}

// named returns a label with the actor, unless it is the user who runs pawl.
func named(label string, by pawl.Actor) string {
	if by == (pawl.Actor{}) {
		return label
	}
	return label + ", by " + line(by.String(), 200)
}

func (t *renderer) shared(b pawl.SessionShared) error {
	var names []string
	for _, u := range b.With {
		names = append(names, string(u))
	}
	if len(names) == 0 {
		return t.note(named("Sharing ended", b.By), "")
	}
	return t.note(named("Shared", b.By), "with "+strings.Join(names, ", "))
}

// mission writes an event of a mission, with its evidence.
func (t *renderer) mission(b pawl.Body) error {
	text, level := humanize.Mission(b)
	detail := humanize.MissionDetail(b)
	if detail == "" {
		return t.note("Mission:", text)
	}
	return t.w.block(block{Kind: foldBlock, Label: "Mission:", Name: line(text, 1000), Failed: level == humanize.Warn || level == humanize.Bad,
		Parts: []part{{Text: cut(detail, maxDetail)}}})
}

func filesOf(parts pawl.Parts) []file {
	var list []file
	for _, p := range parts {
		if f, ok := p.(pawl.File); ok {
			list = append(list, attachment(f))
		}
	}
	return list
}

// attachment describes a file.
func attachment(f pawl.File) file {
	return file{Name: line(fmt.Sprintf("%s (%s)", f.Name, f.MediaType), 300), Size: len(f.Data), File: f}
}

func (t *renderer) replied(b pawl.Replied) error {
	for _, p := range b.Parts {
		var err error
		switch p := p.(type) {
		case pawl.Text:
			err = t.say("Pawl", "pawl", p.Text, nil)
		case pawl.Reasoning:
			if p.Text != "" {
				err = t.fold("Reasoning", "", part{Text: cut(p.Text, maxDetail)})
			}
		case pawl.ToolCall:
			t.calls = append(t.calls, p)
		case pawl.ToolResult, pawl.File, pawl.Patch: // not in replies
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *renderer) fold(label, name string, parts ...part) error {
	return t.w.block(block{Kind: foldBlock, Label: label, Name: line(name, 200), Parts: parts})
}

func (t *renderer) asked(b pawl.Asked) error {
	label := map[pawl.AskKind]string{
		pawl.AskQuestion: "Pawl asks", pawl.AskPlan: "Pawl proposes a plan", pawl.AskPermission: "Pawl asks for permission",
	}[b.Kind]
	text := b.Text
	if label == "" {
		label = "Pawl asks"
	}
	for _, q := range b.Questions {
		text += "\n\n" + q.Header + ": " + q.Question
		for _, o := range q.Options {
			text += strings.TrimSuffix("\n- "+o.Label+": "+o.Description, ": ")
		}
	}
	return t.say(label, "pawl", strings.TrimSpace(text), nil)
}

func (t *renderer) answered(b pawl.Answered) error {
	if b.Outcome != pawl.OutcomeAnswered && b.Text == "" {
		return t.note(named("Answer", b.By), string(b.Outcome))
	}
	lines := []string{string(b.Outcome)}
	for _, chosen := range b.Answers {
		lines = append(lines, strings.Join(chosen, "; "))
	}
	for _, rule := range b.Always {
		lines = append(lines, "always allow: "+string(rule))
	}
	if b.Text != "" {
		lines = append(lines, b.Text)
	}
	return t.say(named("Your answer", b.By), "you", strings.Join(lines, "\n"), nil)
}

func (t *renderer) todos(b pawl.TodosSet) error {
	var lines []string
	for _, todo := range b.Todos {
		lines = append(lines, fmt.Sprintf("%s: %s", todo.Status, todo.Content))
	}
	return t.fold("Todo list", "", part{Text: cut(strings.Join(lines, "\n"), maxDetail)})
}

// callBlock starts the block of a call.
func callBlock(c pawl.ToolCall, mark string) block {
	input := c.Input
	var b bytes.Buffer
	if json.Indent(&b, input, "", "  ") == nil {
		input = b.Bytes()
	}
	return block{Kind: foldBlock, Label: "Tool call", Name: line(c.Name+" "+string(c.Input), 120), Mark: mark,
		Parts: []part{{Label: "Input", Name: line(c.Name, 100), Lang: "json", Text: cut(string(input), maxDetail)}}}
}

func (t *renderer) finished(b pawl.CallFinished) error {
	call := pawl.ToolCall{ID: b.Call}
	if i := slices.IndexFunc(t.calls, func(c pawl.ToolCall) bool { return c.ID == b.Call }); i >= 0 {
		call = t.calls[i]
		t.calls = slices.Delete(t.calls, i, i+1)
	}
	return t.w.block(callBlock(call, markOf(b.Status, b.Result)).with(b.Result))
}

// shellBlock starts the block of a shell command of the user.
func (t *renderer) shellBlock(asked pawl.Seq, mark string) block {
	command := t.shells[asked]
	return block{Kind: foldBlock, Label: named("You ran", t.by[asked]), Name: line(command, 120), Mark: mark,
		Parts: []part{{Label: "Command", Text: cut(command, maxDetail)}}}
}

// ran writes the result of a shell command of the user.
func (t *renderer) ran(b pawl.ShellRan) error {
	bl := t.shellBlock(b.Asked, markOf(b.Status, b.Result)).with(b.Result)
	delete(t.shells, b.Asked)
	return t.w.block(bl)
}

// markOf describes the result of a call in a word.
func markOf(status pawl.CallStatus, r pawl.Result) string {
	if status == pawl.CallDone && r.IsError {
		return "failed"
	}
	return line(string(status), 50)
}

// with returns the block with a result.
func (bl block) with(r pawl.Result) block {
	bl.Failed = bl.Mark != string(pawl.CallDone)
	result := part{Label: "Result", Text: cut(r.Content, maxDetail)}
	if s := r.Full; s != nil {
		result.Label = fmt.Sprintf("Result (beginning and end of %d bytes)", s.Size)
	}
	bl.Parts = append(bl.Parts, result)
	for _, p := range r.Display {
		switch p := p.(type) {
		case pawl.Patch:
			bl.Parts = append(bl.Parts, part{Label: "Change to", Name: line(p.Path, 300), Lang: "diff", Text: cut(p.Diff, maxDetail)})
		case pawl.Text:
			bl.Parts = append(bl.Parts, part{Label: "Display", Text: cut(p.Text, maxDetail)})
		case pawl.ToolResult:
			bl.Parts = append(bl.Parts, part{Label: "Display", Text: cut(p.Content, maxDetail)})
		case pawl.Reasoning, pawl.ToolCall, pawl.File: // not shown
		}
	}
	for _, f := range r.Files {
		bl.Files = append(bl.Files, attachment(f))
	}
	return bl
}

func (t *renderer) ended(turn int, b pawl.TurnFinished) error {
	label := fmt.Sprintf("Turn %d ended: %s, %s", turn, humanize.Plural(b.Steps, "step"), used(b.Usage))
	return t.note(label, strings.TrimSuffix(string(b.Reason)+": "+b.Message, ": "))
}

func (t *renderer) compacted(b pawl.Compacted) error {
	if b.Message != "" {
		if err := t.note("Compaction", b.Message); err != nil {
			return err
		}
	}
	if b.Keep == 0 {
		return nil
	}
	label := fmt.Sprintf("Compacted from about %d to %d tokens. The model sees this summary instead of the above", b.Before, b.After)
	return t.fold(label, "", part{Text: cut(b.Text, maxDetail)})
}

// undone notes that a part of the above was undone.
func (t *renderer) undone(b pawl.Undone) error {
	order := t.orders[b.Asked]
	what := map[pawl.Scope]string{
		pawl.ScopeBoth: "files and conversation", pawl.ScopeFiles: "files", pawl.ScopeConversation: "conversation",
	}[order.Scope]
	switch {
	case b.Refused != "":
		return t.note("Not undone", b.Refused)
	case order.Redo != 0:
		return t.note(named("Redone: "+what, t.by[b.Asked]), strings.Join(b.Changed, ", "))
	default:
		place := fmt.Sprintf("event %d", order.To)
		if turn := t.turns[order.To]; turn > 0 {
			place = fmt.Sprintf("turn %d", turn)
		}
		return t.note(named(fmt.Sprintf("Undone to before %s: %s", place, what), t.by[b.Asked]), strings.Join(b.Changed, ", "))
	}
}
