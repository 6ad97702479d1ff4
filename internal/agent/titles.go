package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// The bounds of what is written beside the conversation. A model that thinks
// before it writes needs more tokens than the words that come of it.
const (
	maxTitle         = 60  // characters
	maxSummary       = 400 // characters
	maxSummaryTokens = 2000
	maxShownText     = 4 << 10 // bytes of each text that the model is shown
	maxShownFiles    = 30      // names that the model is shown
	summarySteps     = 5       // from so many on, a turn is summarized though it wrote nothing
)

// Title has a small model name the session by its first prompt, unless it has a
// name. It takes no lease and may run beside the turn: a person who gives the
// session a name meanwhile is not overruled. A second attempt finds the name.
func (s *Stepper) Title(ctx context.Context, id pawl.SessionID) error {
	row, small, err := s.summaryModel(ctx, id)
	if err != nil || small == "" || row.Title != "" {
		return err
	}
	prompt, err := s.firstPrompt(ctx, id)
	if err != nil || strings.TrimSpace(prompt) == "" {
		return err
	}
	text, spent, err := s.askSmallModel(ctx, id, small, model.AgentTitle, hidden[model.AgentTitle].Prompt, "The message:"+dashed(prompt))
	if err != nil {
		return fmt.Errorf("title session %s: %w", id, err)
	}
	title := cleanTitle(text)
	if title == "" {
		return fmt.Errorf("title session %s: the model's reply names nothing", id)
	}
	return s.appendUnless(ctx, row, pawl.Event{Body: pawl.SessionTitled{Title: title, ModelUsage: spent}}, func(e pawl.Event) bool {
		_, titled := e.Body.(pawl.SessionTitled)
		return titled
	})
}

// Summarize has a small model say what a turn that has ended came to, if it was
// a long one or wrote files. Like Title, it takes no lease; a summary of this
// turn or a later one that is in the log already stays the newest, and a turn
// that a person undoes meanwhile has none.
func (s *Stepper) Summarize(ctx context.Context, t Turn) error {
	row, small, err := s.summaryModel(ctx, t.Session)
	if err != nil || small == "" {
		return err
	}
	w, err := s.readTurnWork(ctx, t)
	if err != nil || w.summarized || w.end.Steps < summarySteps && len(w.writes.Paths()) == 0 {
		return err
	}
	text, spent, err := s.askSmallModel(ctx, t.Session, small, model.AgentSummary, hidden[model.AgentSummary].Prompt, w.String())
	if err != nil {
		return fmt.Errorf("summarize session %s: %w", t.Session, err)
	}
	summary := cutWords(cleanLine(text), maxSummary)
	if summary == "" {
		return fmt.Errorf("summarize session %s: the model's reply says nothing", t.Session)
	}
	row.Head = w.head
	e := pawl.Event{Turn: t.Number, Body: pawl.SessionSummarized{Summary: summary, ModelUsage: spent}}
	return s.appendUnless(ctx, row, e, func(e pawl.Event) bool {
		switch e.Body.(type) {
		case pawl.SessionSummarized:
			return e.Turn >= t.Number
		case pawl.RevertAsked:
			return true
		default:
			return false
		}
	})
}

// small returns the session's row and the model that writes for it beside the
// conversation; "" if there is none, or if the session is a subagent: those are
// named by who spawned them, and report to it.
func (s *Stepper) summaryModel(ctx context.Context, id pawl.SessionID) (pawl.Session, string, error) {
	if s.SummaryModel == nil {
		return pawl.Session{}, "", nil
	}
	row, err := s.Store.Session(ctx, id)
	if err != nil || row.Parent != "" {
		return row, "", err
	}
	ref, err := s.SummaryModel(row.Model)
	return row, ref, err
}

// appendUnless writes an event at the log's end, unless what came after the row's
// head makes it needless.
func (s *Stepper) appendUnless(ctx context.Context, row pawl.Session, e pawl.Event, needless func(pawl.Event) bool) error {
	e.At = s.Clock()
	for head := row.Head; ; {
		for late, err := range s.Store.Events(ctx, row.ID, head) {
			if err != nil {
				return fmt.Errorf("read log of %s: %w", row.ID, err)
			}
			if needless(late) {
				return nil
			}
			head = late.Seq
		}
		_, err := s.Bus.Append(ctx, row.ID, head, e)
		if !errors.Is(err, pawl.ErrConflict) {
			return err
		}
	}
}

// firstPrompt returns the words that the session's first turn began with.
func (s *Stepper) firstPrompt(ctx context.Context, id pawl.SessionID) (string, error) {
	prompts := map[pawl.Seq]pawl.Parts{}
	for e, err := range s.Store.Events(ctx, id, 0) {
		if err != nil {
			return "", fmt.Errorf("read log of %s: %w", id, err)
		}
		switch b := e.Body.(type) {
		case pawl.Prompted:
			prompts[e.Seq] = b.Parts
		case pawl.Reworded:
			prompts[b.Prompt] = b.Parts
		case pawl.TurnStarted:
			return prompts[b.Prompt].Text(), nil
		default:
		}
	}
	return "", nil
}

// work is what a turn did, as a summary needs it.
type turnWork struct {
	prompt     string
	words      string // the model's last
	writes     pawl.Writes
	end        pawl.TurnFinished
	summarized bool     // it is summarized already
	head       pawl.Seq // of the log when it was read
}

// workOf reads a turn's part of the log.
func (s *Stepper) readTurnWork(ctx context.Context, t Turn) (turnWork, error) {
	var w turnWork
	for e, err := range s.Store.Events(ctx, t.Session, t.Prompt-1) {
		if err != nil {
			return turnWork{}, fmt.Errorf("read log of %s: %w", t.Session, err)
		}
		if e.Turn > t.Number {
			break
		}
		w.head = e.Seq
		switch b := e.Body.(type) {
		case pawl.Prompted:
			if e.Seq == t.Prompt {
				w.prompt = b.Parts.Text()
			}
		case pawl.Reworded:
			if b.Prompt == t.Prompt {
				w.prompt = b.Parts.Text()
			}
		default:
		}
		if e.Turn != t.Number {
			continue
		}
		w.writes.Add(e.Body)
		switch b := e.Body.(type) {
		case pawl.Replied:
			w.words = cmp.Or(b.Parts.Text(), w.words)
		case pawl.TurnFinished:
			w.end = b
		case pawl.SessionSummarized:
			w.summarized = true
		default:
		}
	}
	return w, nil
}

// String is the turn as the model is shown it.
func (w *turnWork) String() string {
	text := "The person asked:" + dashed(w.prompt) + "The agent's last words:" + dashed(w.words)
	if paths := w.writes.Paths(); len(paths) > 0 {
		more := ""
		if n := len(paths) - maxShownFiles; n > 0 {
			paths, more = paths[:maxShownFiles], fmt.Sprintf("\nand %d more", n)
		}
		text += "It wrote:" + dashed(strings.Join(paths, "\n")+more)
	}
	if w.end.Reason != pawl.ReasonEndTurn {
		text += fmt.Sprintf("The turn was ended: %s.\n", w.end.Reason)
	}
	return text
}

// dashed is a text between lines of dashes, bounded.
func dashed(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxShownText {
		text = strings.ToValidUTF8(text[:maxShownText], "") + " …"
	}
	return "\n-----\n" + text + "\n-----\n"
}

// aside makes one model call beside the conversation and returns its words.
func (s *Stepper) askSmallModel(ctx context.Context, id pawl.SessionID, ref, agent, system, text string) (string, pawl.ModelUsage, error) {
	spent := pawl.ModelUsage{Model: ref}
	m, err := s.Model(ref)
	if err != nil {
		return "", spent, err
	}
	before, err := s.replyCount(ctx, id, agent)
	if err != nil {
		return "", spent, err
	}
	req := model.Request{
		Session: id, Agent: agent, Replies: before, System: system, MaxTokens: maxSummaryTokens,
		Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: pawl.Parts{pawl.Text{Text: text}}}},
	}
	var words strings.Builder
	for c, err := range m.Stream(ctx, req) {
		if err != nil {
			return "", spent, err
		}
		switch c.Kind {
		case model.ChunkText:
			words.WriteString(c.Text)
		case model.ChunkUsage:
			spent.Usage = c.Usage
		case model.ChunkRetry: // it is not worth a second try, nor another model's price
			return "", spent, fmt.Errorf("%s: %s", c.Retry.Kind, c.Retry.Message)
		case model.ChunkFinish:
			return words.String(), spent, nil
		case model.ChunkReasoning, model.ChunkCall, model.ChunkNotice:
		}
	}
	return "", spent, errors.New("the model's reply broke off")
}

// written is how many texts an agent has written for the session.
func (s *Stepper) replyCount(ctx context.Context, id pawl.SessionID, agent string) (int, error) {
	rows, err := s.Store.Usage(ctx, pawl.UsageFilter{Session: id})
	if err != nil {
		return 0, fmt.Errorf("usage of %s: %w", id, err)
	}
	n := 0
	for _, row := range rows {
		if row.Session == id && row.Agent == agent {
			n += row.Replies
		}
	}
	return n, nil
}

// cleanTitle makes a name of what a model replied: its first line, without
// quotes and Markdown.
func cleanTitle(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(sanitize.Text(text)), "\n")
	line := strings.TrimRight(cleanLine(first), ".")
	if label, rest, ok := strings.Cut(line, ":"); ok && strings.EqualFold(label, "title") {
		line = cleanLine(rest)
	}
	return cutWords(line, maxTitle)
}

// marks are what models put around words.
const marks = " #*_>-\"'“”‘’«»`"

// cleanLine makes one plain line of a text.
func cleanLine(text string) string {
	text = strings.Join(strings.Fields(sanitize.Text(text)), " ")
	text = strings.NewReplacer("**", "", "`", "").Replace(text)
	return sanitize.Line(strings.Trim(text, marks))
}

// cutWords returns at most n characters of a line, whole words if it can.
func cutWords(line string, n int) string {
	runes := []rune(line)
	if len(runes) <= n {
		return line
	}
	cut := string(runes[:n-1])
	if at := strings.LastIndexByte(cut, ' '); at > 0 && runes[n-1] != ' ' {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " ,;:-") + "…"
}
