package transcript

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-dev/pawl"
)

// CallID returns the ID of the item of a call.
func CallID(id pawl.CallID) string        { return "call_" + string(id) }
func subagentID(id pawl.SessionID) string { return "subagent_" + string(id) }

// call applies the events of tool calls.
func (t *Transcript) call(c *Change, e pawl.Event) {
	switch b := e.Body.(type) { //nolint:gochecksumtype // a part of Apply
	case pawl.CallStarted:
		t.editCall(c, e, b.Call, func(it *Item) {
			it.State, it.Call.Tool, it.Call.Targets, it.Call.Started, it.Call.Unsafe = StateRunning, b.Tool, targets(b.Access), e.At, b.Unsafe
			if len(b.Input) > 0 {
				it.Call.Input = b.Input
			}
		})
	case pawl.Progress:
		t.progress(c, t.callItem(b.Call), b.Text)
	case pawl.Asked:
		t.asked(c, e, b)
	case pawl.Answered:
		t.answered(c, b)
	case pawl.CallFinished:
		t.finished(c, e, b.Call, b.Status, b.Result)
	case pawl.Spawned:
		it := t.put(c, Item{ID: subagentID(b.Subagent), Kind: KindSubagent, Seq: e.Seq, Turn: e.Turn, At: e.At, State: StateRunning, Text: b.Title, Subagent: &b})
		t.subagents = append(t.subagents, it)
	case pawl.TodosSet:
		t.put(c, Item{ID: eventID(KindTodos, e), Kind: KindTodos, Seq: e.Seq, Turn: e.Turn, At: e.At, State: StateDone, Todos: b.Todos})
	}
}

// targets returns the targets of accesses. What is read and written is listed once.
func targets(accesses []pawl.Access) []string {
	var list []string
	for _, a := range accesses {
		if !slices.Contains(list, a.Target) {
			list = append(list, a.Target)
		}
	}
	return list
}

// callItem returns the item of a call, or nil. Most events are about the same call as the last one.
func (t *Transcript) callItem(id pawl.CallID) *Item {
	if t.lastCall == nil || t.lastCall.Call.ID != id {
		t.lastCall = t.items[CallID(id)]
	}
	return t.lastCall
}

// editCall changes the item of a call, which may have begun before the oldest known event.
func (t *Transcript) editCall(c *Change, e pawl.Event, id pawl.CallID, f func(it *Item)) {
	it := t.callItem(id)
	if it == nil {
		it = t.put(c, Item{ID: CallID(id), Kind: KindCall, Seq: e.Seq, Turn: e.Turn, At: e.At, State: StateWaiting, Call: &Call{ID: id}})
	}
	t.edit(c, it, f)
}

func (t *Transcript) finished(c *Change, e pawl.Event, id pawl.CallID, status pawl.CallStatus, r pawl.Result) {
	t.editCall(c, e, id, func(it *Item) {
		it.State, it.Text, it.Call.Ask = StateDone, "", ""
		if status != pawl.CallDone || r.IsError {
			it.State = StateFailed
		}
		if it.Call.Status, it.Call.Result = status, r; !it.Call.Started.IsZero() {
			it.Took = e.At.Sub(it.Call.Started)
		}
		delete(t.output, it)
	})
	t.endSubagents(c, func(it *Item) bool { return it.Subagent.Call == id && !it.Subagent.Background })
}

// endSubagents records that subagents are done.
func (t *Transcript) endSubagents(c *Change, which func(it *Item) bool) {
	t.subagents = slices.DeleteFunc(t.subagents, func(it *Item) bool {
		if !which(it) {
			return false
		}
		t.edit(c, it, func(it *Item) { it.State = StateDone })
		return true
	})
}

func (t *Transcript) asked(c *Change, e pawl.Event, b pawl.Asked) {
	ask := t.put(c, askItem(eventID(KindAsk, e), e, b))
	t.asks[e.Seq] = ask
	t.edit(c, t.callItem(b.Call), func(it *Item) { it.Call.Ask = ask.ID })
}

func (t *Transcript) answered(c *Change, b pawl.Answered) {
	var call pawl.CallID
	t.edit(c, t.asks[b.Ask], func(it *Item) {
		it.State, it.By, it.Ask.Answer, call = StateDone, b.By, &b.Answer, it.Ask.Call
		if b.Outcome != pawl.OutcomeAnswered {
			it.State = StateFailed
		}
	})
	delete(t.asks, b.Ask)
	t.edit(c, t.callItem(call), func(it *Item) { it.Call.Ask = "" })
}

// shell applies the events of the user's shell commands. An item moves to where its command starts.
func (t *Transcript) shell(c *Change, e pawl.Event) {
	switch b := e.Body.(type) { //nolint:gochecksumtype // a part of Apply
	case pawl.ShellAsked:
		t.editShell(c, e, e.Seq, func(it *Item) {
			it.By, it.Call.Targets = b.By, []string{b.Command}
			it.Call.Input, _ = json.Marshal(map[string]string{"command": b.Command}) // a map of strings cannot fail
		})
	case pawl.ShellStarted:
		t.editShell(c, e, b.Asked, func(it *Item) {
			it.Seq, it.Turn, it.State, it.Call.Started, it.Call.Unsafe = e.Seq, e.Turn, StateRunning, e.At, b.Unsafe
		})
	case pawl.ShellRan:
		t.editShell(c, e, b.Asked, func(*Item) {})
		t.finished(c, e, b.Asked.ShellCall(), b.Status, b.Result)
	}
}

func (t *Transcript) editShell(c *Change, e pawl.Event, asked pawl.Seq, f func(it *Item)) {
	t.editCall(c, e, asked.ShellCall(), func(it *Item) {
		it.Call.Tool, it.Call.User = "bash", true
		f(it)
	})
}

// maxOutput bounds the output that is kept of a running call, in bytes.
const maxOutput = 16 << 10

// progress adds output to a running call, of which it keeps the end.
func (t *Transcript) progress(c *Change, it *Item, text string) {
	if it == nil {
		return
	}
	out := t.output[it]
	if out == nil {
		out = &strings.Builder{}
		t.output[it] = out
	}
	if out.Len()+len(text) <= 2*maxOutput {
		out.WriteString(text)
		t.appendText(c, it, text, out.String())
		return
	}
	whole := out.String() + text
	start := max(0, len(whole)-maxOutput)
	for start < len(whole) && !utf8.RuneStart(whole[start]) {
		start++
	}
	out.Reset()
	out.WriteString(whole[start:])
	t.edit(c, it, func(it *Item) { it.Text = out.String() })
}
