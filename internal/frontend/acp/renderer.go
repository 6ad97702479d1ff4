package acp

import (
	"context"
	"errors"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// renderer sends the items of a session's transcript to the editor: first the past
// ones, then changes. An editor can replace a call, but not text that it has shown.
// Only one goroutine uses it.
type renderer struct {
	*session
	items     *transcript.Transcript
	asks      *asks
	silent    bool // past items are not sent
	following bool // past items have been handled
	prompts   map[string]pawl.Seq
	streams   map[transcript.Kind]*textStream // of the reply that is streamed
	calls     map[string]string               // the status that was sent, by item
	shown     map[string]bool                 // the other items that were sent
	use       contextUse
	replied   bool  // texts are complete, not what was streamed of them
	err       error // first error of show
}

func newRenderer(s *session) *renderer {
	return &renderer{
		session: s, items: transcript.New(), asks: newAsks(s), prompts: map[string]pawl.Seq{},
		streams: map[transcript.Kind]*textStream{}, calls: map[string]string{}, shown: map[string]bool{},
	}
}

// replay sends the items of past events, without those that were undone.
func (r *renderer) replay(ctx context.Context, events []pawl.Event) error {
	title := ""
	for _, e := range events {
		r.items.Apply(e)
		r.use.add(e)
		if b, ok := e.Body.(pawl.SessionTitled); ok {
			title = b.Title
		}
	}
	r.replied = true
	for _, it := range r.items.Items() {
		r.item(ctx, it)
	}
	if title != "" {
		r.show(ctx, titleUpdated{title})
	}
	r.showUsage(ctx)
	return r.err
}

// follow handles the events after a Seq until ctx or the connection ends.
func (r *renderer) follow(ctx context.Context, after pawl.Seq) error {
	defer r.asks.stopAll()
	r.silent, r.following = false, true
	r.asks.present(ctx)
	for e, err := range r.svc.Events(ctx, r.id, after-1) {
		if err != nil {
			return err
		}
		r.markFollowed() // from here on no event is missed, including those that are not in the log
		if e.Seq != 0 && e.Seq <= after {
			continue
		}
		r.event(ctx, e)
		if r.err != nil {
			return r.err
		}
		r.notifyWaiters(e)
	}
	return context.Cause(ctx)
}

func (r *renderer) show(ctx context.Context, u update) {
	if !r.silent && r.err == nil {
		r.err = r.editor.show(ctx, r.id, u)
	}
}

// event sends what an event changed.
func (r *renderer) event(ctx context.Context, e pawl.Event) {
	c := r.items.Apply(e)
	_, r.replied = e.Body.(pawl.Replied)
	if b, ok := e.Body.(pawl.Undone); ok {
		r.undone(ctx, c, e.Seq, b)
		return
	}
	r.change(ctx, c)
	if r.items.Missed() {
		if d, err := r.svc.Draft(ctx, r.id); err == nil { // otherwise the complete reply has it
			r.change(ctx, r.items.Join(d))
		}
	}
	if r.replied {
		clear(r.streams)
	}
	switch b := e.Body.(type) {
	case pawl.SessionTitled:
		r.show(ctx, titleUpdated{b.Title})
	case pawl.ModeChanged:
		r.modeChanged(ctx, b.Mode)
	default: // items only
	}
	if r.use.add(e) {
		r.showUsage(ctx)
	}
}

// modeChanged sends the new mode, in the old form and the new one.
func (r *renderer) modeChanged(ctx context.Context, mode string) {
	r.set(func(c *pawl.Settings) { c.Mode = mode })
	r.show(ctx, modeSet{mode})
	if options, err := r.options(ctx); err == nil { // otherwise the next prompt reports it
		r.show(ctx, optionsUpdated{options})
	}
}

// change sends a change of the transcript.
func (r *renderer) change(ctx context.Context, c transcript.Change) {
	for _, id := range c.Removed {
		r.removed(ctx, id)
	}
	for _, it := range c.Items {
		r.item(ctx, it)
	}
	for _, a := range c.Appended {
		r.appended(ctx, a)
	}
}

// item sends a new item, or what an editor can show of a change.
func (r *renderer) item(ctx context.Context, it transcript.Item) {
	r.asks.item(ctx, it)
	switch it.Kind {
	case transcript.KindUser:
		r.prompt(ctx, it)
	case transcript.KindText, transcript.KindReasoning:
		r.text(ctx, it)
	case transcript.KindCall:
		r.call(ctx, it)
	case transcript.KindTodos:
		r.show(ctx, planUpdated{it.Todos})
	case transcript.KindNote, transcript.KindMission:
		r.noteItem(ctx, it)
	case transcript.KindTurnEnd:
		clear(r.streams)
		if it.End.Reason != pawl.ReasonEndTurn && it.End.Reason != pawl.ReasonCanceled { // the editor shows these itself
			r.noteItem(ctx, it)
		}
	case transcript.KindAsk, transcript.KindSubagent: // see asks
	}
}

// undone shows the note about an undo or a redo. What else it changed is not shown: an
// editor cannot remove or insert text.
func (r *renderer) undone(ctx context.Context, c transcript.Change, seq pawl.Seq, b pawl.Undone) {
	for _, it := range c.Items {
		if it.Kind == transcript.KindNote && it.Seq == seq {
			r.noteItem(ctx, it)
		}
	}
	if b.Refused == "" {
		r.note(ctx, "", "Load the session again to see its current state.")
	}
}

// removed tells the user that a streamed text is void.
func (r *renderer) removed(ctx context.Context, id string) {
	for kind, s := range r.streams {
		if s.item != id {
			continue
		}
		delete(r.streams, kind)
		if strings.TrimSpace(s.shown.String()) != "" {
			r.note(ctx, "", "Disregard the reply so far.")
		}
	}
}

// prompt shows the user's prompt when the model reads it, unless the editor has sent
// it and so shows it already.
func (r *renderer) prompt(ctx context.Context, it transcript.Item) {
	if it.State == transcript.StateWaiting {
		r.prompts[it.ID] = it.Seq
		return
	}
	if r.shown[it.ID] {
		return
	}
	r.shown[it.ID] = true
	if r.awaits(r.prompts[it.ID]) {
		return
	}
	if it.Text != "" {
		r.show(ctx, messageChunk{role: roleUser, id: it.ID, text: it.Text})
	}
	for _, f := range it.Files {
		r.show(ctx, messageChunk{role: roleUser, id: it.ID, text: "(" + line(f.Name) + ", " + line(f.MediaType) + ")", file: f})
	}
}

// call announces a call, and sends its state when that changes. A command of the user
// is announced when it starts.
func (r *renderer) call(ctx context.Context, it transcript.Item) {
	before, announced := r.calls[it.ID]
	if !announced && it.Call.User && it.State == transcript.StateWaiting {
		return
	}
	if !announced {
		r.show(ctx, callStarted{newCall(r.dir, it)})
	}
	shown := callState(r.dir, it)
	r.calls[it.ID] = shown.status
	if shown.status != "pending" && (shown.status != before || it.Text != "") {
		r.show(ctx, callUpdated{shown})
	}
}

// appended sends text that was added to an item: a part of the reply, or output.
func (r *renderer) appended(ctx context.Context, a transcript.Append) {
	it, _ := r.items.Item(a.ID)
	if it.Kind == transcript.KindCall {
		r.show(ctx, callUpdated{output(it.Call.ID, it.Text)})
		return
	}
	s := r.stream(it)
	s.show = func(text string) { r.show(ctx, messageChunk{role: roles[it.Kind], id: it.ID, text: text}) }
	s.add(a.Text)
}

// stream returns the stream of a text.
func (r *renderer) stream(it transcript.Item) *textStream {
	s := r.streams[it.Kind]
	if s == nil {
		s = newTextStream(it.ID, r.mask)
		r.streams[it.Kind] = s
	}
	return s
}

// text sends the part of a complete text that was not streamed. A streamed text that
// was not completed stays as it is.
func (r *renderer) text(ctx context.Context, it transcript.Item) {
	if !r.replied || r.shown[it.ID] {
		return
	}
	r.shown[it.ID] = true
	rest, ok := r.stream(it).rest(it.Text)
	if !ok {
		r.note(ctx, "", "The reply differs from what was streamed. The complete reply:")
	}
	if rest != "" {
		r.show(ctx, messageChunk{role: roles[it.Kind], id: it.ID, text: rest})
	}
}

// noteItem shows a note once.
func (r *renderer) noteItem(ctx context.Context, it transcript.Item) {
	if r.shown[it.ID] || it.Text == "" {
		return
	}
	r.shown[it.ID] = true
	text := strings.ReplaceAll(sanitize.Text(it.Text), "`", "'")
	if it.Next != "" {
		text += ". " + it.Next
	}
	r.note(ctx, it.ID, text)
}

// note shows one of pawl's own messages.
func (r *renderer) note(ctx context.Context, id, text string) {
	r.show(ctx, messageChunk{role: roleThought, id: id, text: "pawl: " + text + "\n\n"})
}

// Reasons why a session's events are not followed any more.
var (
	errDisconnected  = errors.New("the editor disconnected")
	errSessionClosed = errors.New("the session was closed or loaded again; its turn continues in the background")
)
