package prompt_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/agent/prompt"
	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// scribe writes logs that pawl could have written, up to where a model is asked.
type scribe struct {
	history pawl.History
	log     []pawl.Event
	ids     int
	step    int
	asked   []int // how many messages there were whenever a model was asked

	budget prompt.Budget // of logs that change what was before; zero: there is no such
	sizes  prompt.Sizes
	fitted []pawl.Message // what the model was asked last
	began  pawl.Seq       // the open turn; 0 if none exists
	turns  []pawl.Seq     // the prompts that turns began with and that count
	did    map[string]int
}

func (s *scribe) write(t *rapid.T, b pawl.Body) pawl.Seq {
	e := pawl.Event{Seq: s.history.Head() + 1, Body: b}
	s.log = append(s.log, e)
	err := s.history.Apply(e)
	if errors.Is(err, pawl.ErrRewound) {
		var h *pawl.History
		if h, err = pawl.Fold(pawl.SliceLog(s.log)); err == nil {
			s.history = *h
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return e.Seq
}

// drawChangedLog draws a log whose conversation was summarized and undone at
// times.
func drawChangedLog(t *rapid.T, turns, steps int, budget prompt.Budget) *scribe {
	s := &scribe{budget: budget, did: map[string]int{}}
	s.write(t, pawl.SessionCreated{Dir: "/project"})
	n := rapid.IntRange(1, turns).Draw(t, "turns")
	for i := range n {
		s.turn(t, steps, i == n-1)
		if i < n-1 {
			s.compact(t)
			s.undo(t)
		}
	}
	return s
}

// compact may summarize the older part of the conversation, as the loop does.
func (s *scribe) compact(t *rapid.T) {
	if s.budget.Input == 0 || !s.take(t, "compacted", 3) {
		return
	}
	messages := s.history.Messages()
	must := len(messages)
	if s.began != 0 {
		must = prompt.NewestStep(messages, s.began)
	}
	from, _ := s.sizes.Keep(messages, rapid.IntRange(0, s.budget.Context/4).Draw(t, "most"), must)
	if from == 0 {
		return
	}
	keep := s.history.Head() + 1
	if from < len(messages) {
		keep = messages[from].Seq
	}
	d := prompt.Digest{Task: drawText(t, 3000), Prompt: drawText(t, 3000), Summary: drawText(t, 9000), Files: []string{drawText(t, 300)}}
	s.write(t, pawl.Compacted{Keep: keep, Text: d.Bound(s.budget).Text()})
	s.did["compacted"]++
}

// undo may take the session back to before one of its turns, and forward again.
func (s *scribe) undo(t *rapid.T) {
	if len(s.turns) == 0 || !s.take(t, "undone", 4) {
		return
	}
	i := rapid.IntRange(0, len(s.turns)-1).Draw(t, "to")
	asked := s.write(t, pawl.UndoAsked{Undo: pawl.Undo{To: s.turns[i]}})
	undone := s.write(t, pawl.Undone{Asked: asked})
	s.did["undone"]++
	if s.take(t, "redone", 3) {
		s.write(t, pawl.Undone{Asked: s.write(t, pawl.UndoAsked{Undo: pawl.Undo{Redo: undone}})})
		return
	}
	s.turns = s.turns[:i]
}

// drawLog draws a log of some turns, the last of which waits for a reply.
func drawLog(t *rapid.T, turns, steps int) *scribe {
	s := &scribe{}
	s.write(t, pawl.SessionCreated{Dir: "/project"})
	n := rapid.IntRange(1, turns).Draw(t, "turns")
	for i := range n {
		s.turn(t, steps, i == n-1)
	}
	return s
}

func (s *scribe) turn(t *rapid.T, steps int, last bool) {
	prompted := s.prompted(t)
	s.began = s.write(t, pawl.TurnStarted{Prompt: prompted})
	s.turns = append(s.turns, prompted)
	s.step = 0
	for range rapid.IntRange(0, steps).Draw(t, "steps") {
		if s.take(t, "canceled", 12) {
			break
		}
		if !s.reply(t) && !s.inject(t) {
			s.write(t, pawl.TurnFinished{Reason: pawl.ReasonEndTurn, Steps: s.step})
			s.began = 0
			if last {
				s.turn(t, 0, true)
			}
			return
		}
	}
	if last {
		s.ask(t)
		return
	}
	s.cancel(t)
}

func (*scribe) take(t *rapid.T, what string, oneIn int) bool {
	return rapid.IntRange(1, oneIn).Draw(t, what) == oneIn // small draws are the likely ones
}

func (s *scribe) prompted(t *rapid.T) pawl.Seq {
	parts := pawl.Parts{pawl.Text{Text: "Please. " + drawText(t, 600)}}
	if s.take(t, "attached", 8) {
		parts = append(parts, drawFile(t))
	}
	return s.write(t, pawl.Prompted{Parts: parts})
}

// inject may put a word into the turn; it reports whether it did.
func (s *scribe) inject(t *rapid.T) bool {
	switch rapid.IntRange(0, 3).Draw(t, "injected") {
	case 0:
		s.write(t, pawl.Injected{Source: "user", Prompt: s.prompted(t)})
	case 1:
		s.write(t, pawl.Injected{Source: "max_steps", Text: "Wrap up. " + drawText(t, 100)})
	default:
		return false
	}
	return true
}

func (s *scribe) ask(t *rapid.T) {
	s.compact(t)
	if s.budget.Input > 0 {
		s.fitted = s.sizes.Fit(s.history.Messages(), s.budget, 0, nil)
	}
	s.step++
	s.asked = append(s.asked, len(s.history.Messages()))
	s.write(t, pawl.ReplyStarted{Step: s.step, Model: "m"})
}

// cancel ends the turn in the middle of a reply, of which a text may have come.
func (s *scribe) cancel(t *rapid.T) {
	s.ask(t)
	var parts pawl.Parts
	if s.take(t, "came", 2) {
		parts = pawl.Parts{pawl.Text{Text: "I was about to " + drawText(t, 100)}}
	}
	s.write(t, pawl.Replied{Step: s.step, Parts: parts, Finish: pawl.FinishCanceled})
	s.write(t, pawl.TurnFinished{Reason: pawl.ReasonCanceled, Steps: s.step})
	s.began = 0
}

// reply writes a step; it reports whether it had calls.
func (s *scribe) reply(t *rapid.T) bool {
	if s.take(t, "steered", 8) {
		s.inject(t)
	}
	s.ask(t)
	var parts pawl.Parts
	speaker := rapid.SampledFrom([]string{"anthropic", "chat", "responses", "gemini"}).Draw(t, "protocol")
	if thought := drawText(t, 200); s.take(t, "thought", 2) {
		parts = append(parts, pawl.Reasoning{Text: thought, Signature: sealed(speaker, thought)})
	}
	calls := rapid.SampledFrom([]int{1, 1, 1, 2, 1, 4, 0}).Draw(t, "calls")
	if calls == 0 || s.take(t, "spoke", 2) {
		parts = append(parts, pawl.Text{Text: "Now then: " + drawText(t, 400)})
	}
	var ids []pawl.CallID
	for range calls {
		c := s.call(t, speaker)
		parts, ids = append(parts, c), append(ids, c.ID)
	}
	s.write(t, pawl.Replied{Step: s.step, Parts: parts, Finish: pawl.FinishToolUse, Usage: pawl.Usage{Input: 100, Output: 10}})
	for _, id := range rapid.Permutation(ids).Draw(t, "order") {
		s.write(t, pawl.CallStarted{Call: id})
		s.write(t, pawl.CallFinished{Call: id, Status: pawl.CallDone, Result: s.result(t)})
	}
	return calls > 0
}

func (s *scribe) call(t *rapid.T, speaker string) pawl.ToolCall {
	s.ids++
	c := pawl.ToolCall{
		ID:    pawl.CallID(fmt.Sprintf("call_%d", s.ids)),
		Name:  rapid.SampledFrom([]string{"read", "bash", "edit"}).Draw(t, "tool"),
		Input: json.RawMessage(fmt.Sprintf(`{"path":"a & b %d"}`, s.ids)),
	}
	switch {
	case s.take(t, "garbled", 15):
		c.Input = json.RawMessage(`"{\"path\": "`)
	case speaker == "gemini":
		c.Signature = protocol.Seal("gemini", " "+sealOf(fmt.Sprintf(`call %s {"path":"a \u0026 b %d"}`, c.Name, s.ids)))
	}
	return c
}

func (s *scribe) result(t *rapid.T) pawl.Result {
	r := pawl.Result{Content: drawText(t, rapid.SampledFrom([]int{0, 50, 1000, 5000}).Draw(t, "most")), IsError: s.take(t, "failed", 8)}
	if s.take(t, "pictured", 10) {
		r.Files = []pawl.File{drawFile(t)}
	}
	if s.take(t, "spilled", 6) {
		r.Content += "\n… 9 bytes left out: read blob:" + blob + " to see all …\n" + drawText(t, 50)
	}
	return r
}

var blob = fmt.Sprintf("%x", sha256.Sum256([]byte("a blob")))

// drawText draws a text of up to so many bytes or a few more.
func drawText(t *rapid.T, most int) string {
	piece := rapid.SampledFrom([]string{"word ", "if err != nil {\n\treturn err\n}\n", "漢字", "c0ffee", "{\"a\":1},", "привет ", "😀", "é\n"}).Draw(t, "piece")
	return strings.TrimSpace(strings.Repeat(piece, rapid.IntRange(0, most).Draw(t, "bytes")/len(piece)))
}

func drawFile(t *rapid.T) pawl.File {
	return pawl.File{
		Name:      "a.file",
		MediaType: rapid.SampledFrom([]string{"image/png", "application/pdf", "text/plain", "application/zip"}).Draw(t, "type"),
		Data:      []byte(strings.Repeat("x", rapid.IntRange(1, 3000).Draw(t, "size"))),
	}
}

// sealOf is how the fake provider signs.
func sealOf(text string) string {
	sum := sha256.Sum256([]byte("reasoning\n" + text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// sealed is the signature of a thought as the log keeps it.
func sealed(speaker, thought string) string {
	switch speaker {
	case "anthropic":
		return protocol.Seal(speaker, sealOf(thought))
	case "responses":
		item, err := protocol.Marshal(map[string]any{
			"type": "reasoning", "id": "rs_1", "encrypted_content": sealOf(thought),
			"summary": []map[string]string{{"type": "summary_text", "text": thought}},
		})
		if err != nil {
			panic(err)
		}
		return protocol.Seal(speaker, string(item))
	default: // a thought for people only
		return ""
	}
}
