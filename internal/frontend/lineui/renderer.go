package lineui

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// Renderer prints the items of a session as lines. It only adds lines: what was printed and then
// undone stays, and a note says that it was undone. Asks are not printed, because the user is asked.
type Renderer struct {
	items *transcript.Transcript
	out   *printer
	dir   string                     // of the session; paths below it are shortened
	shows func(transcript.Item) bool // which items are printed; nil means all

	shown   map[string]transcript.State // of the items, as they were handled last
	texts   map[string]*streamedText    // texts that are not complete
	split   map[transcript.Kind]*streamedText
	typed   map[string]bool // prompts that were typed in this process
	results int             // of the calls since the last end of a turn
}

// streamedText is a text of the model that is being printed.
type streamedText struct {
	textWriter
	text strings.Builder // what was printed
}

// NewRenderer returns a Renderer for a command that runs a turn: it writes the model's texts to
// answer as they arrive, and lines about the other items to progress. Only the items that shows
// accepts are printed.
func NewRenderer(answer, progress io.Writer, shows func(transcript.Item) bool) *Renderer {
	return newRenderer(&printer{w: progress, answer: answer}, "", shows)
}

// Err returns the first error of a write.
func (r *Renderer) Err() error { return r.out.err }

func newRenderer(out *printer, dir string, shows func(transcript.Item) bool) *Renderer {
	return &Renderer{items: transcript.New(), out: out, dir: dir, shows: shows, shown: map[string]transcript.State{}, texts: map[string]*streamedText{},
		split: map[transcript.Kind]*streamedText{}, typed: map[string]bool{}}
}

// Apply prints what an event changes, and returns it.
func (r *Renderer) Apply(e pawl.Event) transcript.Change {
	c := r.items.Apply(e)
	for _, id := range c.Removed {
		if s := r.texts[id]; s != nil {
			s.end()
			delete(r.texts, id)
		}
	}
	for _, it := range c.Items {
		r.item(it)
	}
	for _, s := range r.split {
		s.end()
	}
	clear(r.split)
	for _, a := range c.Appended {
		if s := r.texts[a.ID]; s != nil { // otherwise it is the output of a call
			s.text.WriteString(a.Text)
			s.write(a.Text)
		}
	}
	return c
}

// open applies the log of a session that is opened, and prints its last turn.
func (r *Renderer) open(events []pawl.Event) {
	for _, e := range events {
		r.items.Apply(e)
	}
	items, last := r.items.Items(), 0
	for i, it := range items {
		if it.Kind == transcript.KindUser && it.State == transcript.StateDone && !it.Steered {
			last = i
		}
	}
	for i, it := range items {
		if i < last {
			r.shown[it.ID] = it.State
			continue
		}
		r.item(it)
	}
}

// item prints what is new about an item: items change when their state does.
func (r *Renderer) item(it transcript.Item) {
	if r.shown[it.ID] == it.State {
		return
	}
	if it.State == transcript.StateStreaming {
		r.streaming(it)
		return
	}
	before := r.shown[it.ID]
	r.shown[it.ID] = it.State
	if r.shows != nil && !r.shows(it) && r.texts[it.ID] == nil {
		return
	}
	switch it.Kind {
	case transcript.KindUser:
		r.prompt(it)
	case transcript.KindText, transcript.KindReasoning:
		r.complete(it)
	case transcript.KindCall:
		r.call(it, before)
	case transcript.KindTodos:
		r.todos(it.Todos)
	case transcript.KindSubagent:
		if it.State == transcript.StateRunning {
			r.out.line("subagent", sanitizeLine(it.Subagent.Agent)+": "+sanitizeLine(it.Text))
		}
	case transcript.KindNote:
		r.note(it)
	case transcript.KindMission:
		r.out.line("mission", sanitize.Line(it.Text))
		r.next(it)
	case transcript.KindTurnEnd:
		r.turnEnd(it)
	case transcript.KindAsk: // the user is asked
	}
}

// prompt prints a prompt that the model reads now, unless it was just typed here.
func (r *Renderer) prompt(it transcript.Item) {
	if it.State == transcript.StateWaiting || r.typed[it.ID] && !it.Steered {
		return
	}
	label := "you"
	if it.Steered {
		label = "read"
	}
	r.out.text(label, it.Text)
}

// labels are the labels of texts of the model.
var labels = map[transcript.Kind]string{transcript.KindText: "pawl", transcript.KindReasoning: "thinking"}

// streaming begins a text, or ends the sentence of reasoning when it is over.
func (r *Renderer) streaming(it transcript.Item) {
	s := r.texts[it.ID]
	switch {
	case s != nil && it.Took > 0:
		s.end()
	case s == nil && (r.shows == nil || r.shows(it)):
		r.texts[it.ID] = &streamedText{textWriter: r.out.begin(labels[it.Kind])}
	}
}

// complete prints the rest of a text, or all of it if something else was streamed. A reply is
// streamed as one text, and can become several.
func (r *Renderer) complete(it transcript.Item) {
	s, text := r.texts[it.ID], it.Text
	delete(r.texts, it.ID)
	if s == nil && r.split[it.Kind] != nil {
		s, text = r.split[it.Kind], strings.TrimLeft(text, " \t\n")
		delete(r.split, it.Kind)
	}
	if s == nil {
		r.out.text(labels[it.Kind], text)
		return
	}
	printed := s.text.String()
	switch {
	case strings.HasPrefix(text, printed):
		s.write(text[len(printed):])
	case !strings.HasPrefix(printed, text):
		s.end()
		r.out.text(labels[it.Kind], text)
	case strings.TrimSpace(printed[len(text):]) != "":
		s.text.Reset()
		s.text.WriteString(strings.TrimLeft(printed[len(text):], " \t\n"))
		r.split[it.Kind] = s
		return
	}
	s.end()
}

// note prints a note and what the user can do about it.
func (r *Renderer) note(it transcript.Item) {
	label := map[transcript.Level]string{transcript.LevelWarn: "warning", transcript.LevelBad: "stopped"}[it.Level]
	text := sanitize.Line(strings.TrimSpace(it.Text))
	if it.More != "" {
		text += ": " + sanitizeLine(strings.Join(strings.Fields(it.More), " "))
	}
	if wait := it.Until.Sub(it.At); wait >= time.Second && !it.Until.IsZero() {
		text += ", in " + formatDuration(wait)
	}
	r.out.line(cmp.Or(label, "note"), text)
	r.next(it)
}

// next prints what the user can do. Commands end with an error that says so.
func (r *Renderer) next(it transcript.Item) {
	if it.Next != "" && r.out.answer == nil {
		r.out.line("next", it.Next)
	}
}

// turnEnd prints how the turn ended, its tool calls, cost and duration.
func (r *Renderer) turnEnd(it transcript.Item) {
	var sum []string
	if r.results > 0 {
		sum = append(sum, humanize.Plural(r.results, "tool call"))
	}
	r.results = 0
	if it.End.Usage.Cost > 0 {
		sum = append(sum, humanize.Dollars(it.End.Usage.Cost))
	}
	text := strings.Join(append(sum, formatDuration(it.Took)), ", ")
	switch it.End.Reason {
	case pawl.ReasonEndTurn, pawl.ReasonCanceled:
		r.out.line(strings.ToLower(it.Text), text)
	default:
		r.out.line("stopped", sanitize.Line(strings.TrimSpace(it.Text))+" ("+text+")")
	}
	r.next(it)
}

func (r *Renderer) todos(list []pawl.Todo) {
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

// lastReply returns the text of the last reply.
func (r *Renderer) lastReply() string {
	var texts []string
	for _, it := range slices.Backward(r.items.Items()) {
		switch {
		case it.Kind == transcript.KindText:
			texts = append(texts, it.Text)
		case len(texts) > 0:
			slices.Reverse(texts)
			return strings.Join(texts, "\n")
		}
	}
	return ""
}

// finishedCalls returns the calls that have a result, the newest first.
func (r *Renderer) finishedCalls() []transcript.Item {
	list := slices.DeleteFunc(r.items.Items(), func(it transcript.Item) bool { return it.Kind != transcript.KindCall || it.Call.Status == "" })
	slices.Reverse(list)
	return list
}
