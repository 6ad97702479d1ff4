package telemetry

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pawl-dev/pawl"
)

// Limits of the state in memory. Beyond them the watcher drops all of it: running
// turns then count as resumed.
const (
	maxTurns   = 10_000
	maxPrompts = 1000
)

// watcher derives spans and metrics from events as they are written.
type watcher struct {
	cfg     Config
	metrics *registry
	emit    func(Span) // nil if spans are not sent

	mu      sync.Mutex
	silent  bool // masking the current event failed, so its content is not sent
	turns   map[pawl.SessionID]*turn
	prompts map[place]string          // queued prompts, if content is sent
	parents map[pawl.SessionID]parent // spans that subagents work for
}

// place identifies an event of a log.
type place struct {
	session pawl.SessionID
	seq     pawl.Seq
}

// parent is the span that a subagent works for: a tool call, or the turn of a
// mission's Commander.
type parent struct {
	trace TraceID
	span  SpanID
}

// turn is the state of a running turn.
type turn struct {
	Span
	number    int
	resumed   bool // its start was not observed: it began in another process, or the state was dropped
	agent     string
	reply     *reply
	asked     map[pawl.CallID]pawl.ToolCall // tool calls of the latest reply
	calls     map[pawl.CallID]*Span         // spans of running tool calls
	subagents []pawl.SessionID
	words     string // the latest reply, if content is sent
}

// reply is the state of a running model call.
type reply struct {
	Span
	model   string // the model requested first
	resumed bool   // its start was not observed
	grew    bool   // the first chunk has arrived
}

// appended processes events that were stored together. It skips a whole imported
// log, since that work was done elsewhere.
func (w *watcher) appended(events []pawl.Event) {
	if len(events) > 0 && events[0].Seq == 1 && slices.ContainsFunc(events, func(e pawl.Event) bool { return e.Turn > 0 }) {
		return
	}
	for _, e := range events {
		w.metrics.add(metricEvents, 1, string(pawl.KindOf(e.Body)))
		masked, err := w.masked(e) // without the lock, because it may be slow
		w.mu.Lock()
		w.silent = err != nil
		w.take(masked)
		w.mu.Unlock()
	}
}

func (w *watcher) take(e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Prompted:
		w.keepPrompt(e, b)
	case pawl.Withdrawn:
		delete(w.prompts, place{e.Session, b.Prompt})
	case pawl.TurnStarted:
		w.begin(e, false)
	case pawl.ReplyStarted:
		t := w.open(e)
		t.reply = ask(t, e, b.Model)
	case pawl.Retried:
		w.retried(e, b)
	case pawl.Replied:
		w.replied(e, b)
	case pawl.CallStarted:
		w.callStarted(e, b)
	case pawl.CallFinished:
		w.callFinished(e, b)
	case pawl.Spawned:
		t := w.open(e)
		t.subagents = append(t.subagents, b.Subagent)
		w.parents[b.Subagent] = parent{t.Trace, callSpan(e.Session, b.Call)}
	case pawl.TurnFinished:
		w.finished(e, b)
	case pawl.TaskStarted:
		w.works(e, b.Worker)
	case pawl.ReviewStarted:
		w.works(e, b.Reviewer)
	case pawl.SessionTitled:
		w.spent(b.ModelUsage)
	case pawl.SessionSummarized:
		w.spent(b.ModelUsage)
	case pawl.Compacted:
		w.spent(b.ModelUsage)
	default:
		w.ofMission(b)
	}
}

// works makes the turn of the Commander the parent of the turns of a worker or
// reviewer.
func (w *watcher) works(e pawl.Event, subagent pawl.SessionID) {
	t := w.open(e)
	t.subagents = append(t.subagents, subagent)
	w.parents[subagent] = parent{t.Trace, t.ID}
}

// ofMission counts the progress of missions.
func (w *watcher) ofMission(b pawl.Body) {
	switch b := b.(type) {
	case pawl.MissionStarted:
		w.metrics.add(metricMissions, 1, "begun")
	case pawl.Sealed:
		w.metrics.add(metricMissions, 1, string(pawl.MissionSealed))
	case pawl.Blocked:
		w.metrics.add(metricMissions, 1, string(cmp.Or(b.State, pawl.MissionBlocked)))
	case pawl.TaskMerged:
		w.metrics.add(metricTasks, 1, "merged")
	case pawl.TaskReturned:
		w.metrics.add(metricTasks, 1, word(string(b.Why)))
	case pawl.CheckRan:
		w.metrics.add(metricChecks, 1, strconv.FormatBool(b.OK()))
	default: // not a mission event
	}
}

func (w *watcher) keepPrompt(e pawl.Event, b pawl.Prompted) {
	if !w.reports() {
		return
	}
	if len(w.prompts) >= maxPrompts {
		clear(w.prompts)
	}
	w.prompts[place{e.Session, e.Seq}] = b.Parts.Text()
}

// begin creates the turn of an event. resumed says that its start was not observed.
func (w *watcher) begin(e pawl.Event, resumed bool) *turn {
	if len(w.turns) >= maxTurns {
		clear(w.turns)
		clear(w.parents)
	}
	t := &turn{
		Span:   Span{Trace: traceOf(e.Session, e.Turn), ID: turnSpan(e.Session, e.Turn), Start: e.At},
		number: e.Turn, resumed: resumed, asked: map[pawl.CallID]pawl.ToolCall{}, calls: map[pawl.CallID]*Span{},
	}
	if p, ok := w.parents[e.Session]; ok {
		t.Trace, t.Parent = p.trace, p.span
	}
	t.set(keyOperation, "invoke_agent")
	t.set("gen_ai.conversation.id", string(e.Session))
	t.set("pawl.turn", int64(e.Turn))
	if resumed {
		t.set("pawl.resumed", true)
	}
	if b, ok := e.Body.(pawl.TurnStarted); ok {
		at := place{e.Session, b.Prompt}
		t.setText("gen_ai.input.messages", messages("user", w.prompts[at], ""))
		delete(w.prompts, at)
	}
	w.turns[e.Session] = t
	return t
}

// open returns the turn of an event. If its start was not observed, it begins with
// this event.
func (w *watcher) open(e pawl.Event) *turn {
	if t := w.turns[e.Session]; t != nil && t.number == e.Turn {
		return t
	}
	return w.begin(e, true)
}

// ask creates a model call.
func ask(t *turn, e pawl.Event, model string) *reply {
	return &reply{model: model, Span: Span{Trace: t.Trace, Parent: t.ID, Client: true, Start: e.At}}
}

// asking returns the model call of an event. If its start was not observed, it
// begins with this event.
func asking(t *turn, e pawl.Event, model string) *reply {
	if t.reply == nil {
		t.reply = ask(t, e, model)
		t.reply.resumed = true
		t.reply.set("pawl.resumed", true)
	}
	t.reply.model = cmp.Or(t.reply.model, model)
	return t.reply
}

// grew records the time to the first chunk of a reply.
func (w *watcher) grew(e pawl.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := asking(w.open(e), e, "")
	if r.grew || r.resumed {
		return
	}
	r.grew = true
	took := e.At.Sub(r.Start).Seconds()
	r.set("gen_ai.response.time_to_first_chunk", took)
	provider, model := splitModel(r.model)
	w.metrics.observe(metricFirst, took, "chat", provider, model)
}

func (w *watcher) retried(e pawl.Event, b pawl.Retried) {
	r := asking(w.open(e), e, b.Model)
	kind := word(string(b.Kind))
	_, next := splitModel(b.Model)
	event := SpanEvent{Name: "retry", At: e.At, Attrs: []Attr{
		{keyError, kind}, {"pawl.retry.attempt", int64(b.Attempt)}, {"pawl.retry.wait", b.Wait.Seconds()}, {"pawl.retry.model", next},
	}}
	if w.reports() {
		event.Attrs = append(event.Attrs, Attr{"exception.message", short(b.Message)})
	}
	r.Events = append(r.Events, event)
	_, model := splitModel(r.model)
	w.metrics.add(metricRetries, 1, model, kind)
}

func (w *watcher) replied(e pawl.Event, b pawl.Replied) {
	t := w.open(e)
	r := asking(t, e, b.Model)
	t.reply, t.agent = nil, cmp.Or(b.Agent, t.agent)
	clear(t.asked)
	for _, c := range b.Parts.Calls() {
		t.asked[c.ID] = c
	}
	_, model := splitModel(b.Model)
	r.set(keyResponse, model)
	r.setText(keyAgent, b.Agent)
	r.set("gen_ai.response.finish_reasons", []string{string(b.Finish)})
	r.setUsage(b.Usage)
	if w.reports() {
		t.words = messages("assistant", b.Parts.Text(), string(b.Finish))
		r.setText("gen_ai.output.messages", t.words)
	}
	w.endReply(e, r, b.Step, b.Model, "")
	w.used(r.model, b.Model, b.Usage)
}

// endReply ends a model call. fault is the kind of failure, or "".
func (w *watcher) endReply(e pawl.Event, r *reply, step int, wrote, fault string) {
	provider, model := splitModel(r.model)
	_, response := splitModel(wrote)
	r.ID, r.Name = replySpan(e.Session, e.Turn, step), strings.TrimSpace("chat "+model)
	r.set(keyOperation, "chat")
	r.set(keyProvider, provider)
	r.set(keyRequest, model)
	r.set("gen_ai.conversation.id", string(e.Session))
	if !r.resumed {
		w.metrics.observe(metricCall, e.At.Sub(r.Start).Seconds(), "chat", provider, model, response, fault)
	}
	w.metrics.add(metricModelCalls, 1, response, fault)
	w.end(&r.Span, e, fault)
}

// used records the tokens and the cost of a model call.
func (w *watcher) used(asked, wrote string, u pawl.Usage) {
	provider, request := splitModel(asked)
	_, model := splitModel(wrote)
	for _, k := range []struct {
		kind string
		n    int64
	}{{"input", u.Input}, {"output", u.Output}, {"cache_read", u.CacheRead}, {"cache_write", u.CacheWrite}} {
		w.metrics.add(metricModelRead, float64(k.n), model, k.kind)
	}
	w.metrics.observe(metricTokens, float64(read(u)), "chat", provider, request, model, "input")
	w.metrics.observe(metricTokens, float64(u.Output), "chat", provider, request, model, "output")
	w.metrics.add(metricCost, u.Cost.Dollars(), model)
}

// spent records a model call outside of the conversation, such as one for a title
// or a summary.
func (w *watcher) spent(s pawl.ModelUsage) {
	if s.Model == "" {
		return
	}
	_, model := splitModel(s.Model)
	w.metrics.add(metricModelCalls, 1, model, "")
	w.used(s.Model, s.Model, s.Usage)
}

// read returns the number of input tokens, cached or not.
func read(u pawl.Usage) int64 { return u.Input + u.CacheRead + u.CacheWrite }

func (s *Span) setUsage(u pawl.Usage) {
	s.set("gen_ai.usage.input_tokens", read(u))
	s.set("gen_ai.usage.output_tokens", u.Output)
	if u.CacheRead > 0 {
		s.set("gen_ai.usage.cache_read.input_tokens", u.CacheRead)
	}
	if u.CacheWrite > 0 {
		s.set("gen_ai.usage.cache_creation.input_tokens", u.CacheWrite)
	}
	if u.Reasoning > 0 {
		s.set("gen_ai.usage.reasoning.output_tokens", u.Reasoning)
	}
	if u.Cost > 0 {
		s.set("pawl.cost.dollars", u.Cost.Dollars())
	}
}

func (w *watcher) callStarted(e pawl.Event, b pawl.CallStarted) {
	t := w.open(e)
	s := w.newCall(t, e, b.Call, b.Tool)
	if input := b.Input; w.reports() {
		if input == nil {
			input = t.asked[b.Call].Input
		}
		w.content(s, "gen_ai.tool.call.arguments", string(input))
	}
	t.calls[b.Call] = s
}

func (w *watcher) newCall(t *turn, e pawl.Event, id pawl.CallID, tool string) *Span {
	s := &Span{Trace: t.Trace, Parent: t.ID, ID: callSpan(e.Session, id), Name: "execute_tool " + tool, Start: e.At}
	s.set(keyOperation, "execute_tool")
	s.set(keyTool, tool)
	s.set("gen_ai.tool.call.id", string(id))
	s.set("gen_ai.conversation.id", string(e.Session))
	return s
}

func (w *watcher) callFinished(e pawl.Event, b pawl.CallFinished) {
	t := w.open(e)
	s, ran := t.calls[b.Call]
	if !ran { // it was not run, or its start was not observed
		s = w.newCall(t, e, b.Call, cmp.Or(t.asked[b.Call].Name, "unknown"))
		w.content(s, "gen_ai.tool.call.arguments", string(t.asked[b.Call].Input))
	}
	delete(t.calls, b.Call)
	tool := toolOf(s)
	s.set(keyCall, string(b.Status))
	w.content(s, "gen_ai.tool.call.result", b.Result.Content)
	fault := ""
	switch {
	case b.Status != pawl.CallDone:
		fault = string(b.Status)
	case b.Result.IsError:
		fault = "tool_error"
	}
	w.metrics.add(metricToolCalls, 1, tool, string(b.Status))
	if b.Status == pawl.CallDenied {
		w.metrics.add(metricDenials, 1, tool)
	}
	if ran {
		w.metrics.observe(metricTool, e.At.Sub(s.Start).Seconds(), tool)
	}
	w.end(s, e, fault)
}

func toolOf(s *Span) string { return strings.TrimPrefix(s.Name, "execute_tool ") }

func (w *watcher) finished(e pawl.Event, b pawl.TurnFinished) {
	t := w.open(e)
	fault := ""
	if b.Reason == pawl.ReasonError {
		fault = cmp.Or(string(b.Fault), string(b.Reason))
	}
	if t.reply != nil {
		w.endReply(e, t.reply, b.Steps, t.reply.model, cmp.Or(fault, string(b.Reason)))
	}
	for _, id := range slices.Sorted(maps.Keys(t.calls)) {
		w.end(t.calls[id], e, string(pawl.CallUnknown))
	}
	t.Name = strings.TrimSpace("invoke_agent " + t.agent)
	t.setText(keyAgent, t.agent)
	t.set(keyReason, string(b.Reason))
	t.set("pawl.turn.steps", int64(b.Steps))
	t.setUsage(b.Usage)
	t.setText("gen_ai.output.messages", t.words)
	w.metrics.add(metricTurns, 1, string(b.Reason))
	if !t.resumed {
		w.metrics.observe(metricTurn, e.At.Sub(t.Start).Seconds(), t.agent, string(b.Reason))
	}
	w.end(&t.Span, e, fault)
	for _, subagent := range t.subagents {
		delete(w.parents, subagent)
	}
	delete(w.turns, e.Session)
}

// end ends a span at the time of an event, and sends it.
func (w *watcher) end(s *Span, e pawl.Event, fault string) {
	s.End, s.Fault = e.At, fault
	s.setText(keyError, fault)
	if w.emit != nil {
		w.emit(*s)
	}
}
