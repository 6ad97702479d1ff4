package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// The limits of titles and summaries. A model that thinks before it writes needs more
// tokens than its text has.
const (
	maxTitle         = 60  // characters
	maxSummary       = 400 // characters
	maxSummaryTokens = 2000
	maxShownText     = 4 << 10 // bytes of each text in the request
	maxShownFiles    = 30      // file names in the request
	summarySteps     = 5       // a turn with so many steps is summarized though it wrote nothing
)

// Title has a small model write a title from the session's first prompt, unless it has one.
// It takes no lease and may run during a turn. A title that the user sets at the same time
// wins; a second attempt finds the title.
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
		return fmt.Errorf("title session %s: the model's reply has no title", id)
	}
	return s.appendUnless(ctx, row, pawl.Event{Body: pawl.SessionTitled{Title: title, ModelUsage: spent}}, func(e pawl.Event) bool {
		_, titled := e.Body.(pawl.SessionTitled)
		return titled
	})
}

// Summarize has a small model summarize a finished turn, if it was long or wrote files. Like
// Title, it takes no lease. It writes nothing if the log has a summary of this or a later
// turn already, or if the user undoes the turn at the same time.
func (s *Stepper) Summarize(ctx context.Context, t Turn) error {
	row, small, err := s.summaryModel(ctx, t.Session)
	if err != nil || small == "" {
		return err
	}
	w, err := s.readTurnWork(ctx, t)
	if err != nil || w.summarized || w.End.Steps < summarySteps && len(w.Changed()) == 0 {
		return err
	}
	text, spent, err := s.askSmallModel(ctx, t.Session, small, model.AgentSummary, hidden[model.AgentSummary].Prompt, w.String())
	if err != nil {
		return fmt.Errorf("summarize session %s: %w", t.Session, err)
	}
	summary := cutWords(cleanLine(text), maxSummary)
	if summary == "" {
		return fmt.Errorf("summarize session %s: the model's reply is empty", t.Session)
	}
	row.Head = w.head
	e := pawl.Event{Turn: t.Number, Body: pawl.SessionSummarized{Summary: summary, ModelUsage: spent}}
	return s.appendUnless(ctx, row, e, func(e pawl.Event) bool {
		switch e.Body.(type) {
		case pawl.SessionSummarized:
			return e.Turn >= t.Number
		case pawl.UndoAsked:
			return true
		default:
			return false
		}
	})
}

// summaryModel returns the session's row and the model that writes its title and summaries;
// "" if none is configured, or if the session is a subagent's, whose parent names it and gets its
// report.
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

// appendUnless appends an event, unless an event after the row's head makes it needless.
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

// firstPrompt returns the text of the prompt that started the session's first turn.
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

// turnWork is what a summary of a turn is written from.
type turnWork struct {
	transcript.Outcome
	prompt     string
	summarized bool     // it has a summary already
	head       pawl.Seq // the end of the log when it was read
}

// readTurnWork reads a turn's part of the log.
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
		w.Add(e)
		if _, ok := e.Body.(pawl.SessionSummarized); ok {
			w.summarized = true
		}
	}
	return w, nil
}

// String returns the turn as the model sees it.
func (w *turnWork) String() string {
	text := "The person asked:" + dashed(w.prompt) + "The agent's last words:" + dashed(w.Text)
	if paths := w.Changed(); len(paths) > 0 {
		more := ""
		if n := len(paths) - maxShownFiles; n > 0 {
			paths, more = paths[:maxShownFiles], fmt.Sprintf("\nand %d more", n)
		}
		text += "It wrote:" + dashed(strings.Join(paths, "\n")+more)
	}
	if w.End.Reason != pawl.ReasonEndTurn {
		text += fmt.Sprintf("The turn was ended: %s.\n", w.End.Reason)
	}
	return text
}

// dashed returns a text, cut to maxShownText, between lines of dashes.
func dashed(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxShownText {
		text = strings.ToValidUTF8(text[:maxShownText], "") + " …"
	}
	return "\n-----\n" + text + "\n-----\n"
}

// askSmallModel makes one model call outside of the conversation and returns its text.
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
		case model.ChunkRetry: // not worth a second attempt, nor a more expensive model
			return "", spent, fmt.Errorf("%s: %s", c.Retry.Kind, c.Retry.Message)
		case model.ChunkFinish:
			return words.String(), spent, nil
		case model.ChunkReasoning, model.ChunkCall, model.ChunkNotice:
		}
	}
	return "", spent, errors.New("the model's reply was cut off")
}

// replyCount returns how many replies an agent has written for the session.
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

// cleanTitle returns the first line of a model's reply as a title, without quotes and Markdown.
func cleanTitle(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(sanitize.Text(text)), "\n")
	line := strings.TrimRight(cleanLine(first), ". ")
	if label, rest, ok := strings.Cut(line, ":"); ok && strings.EqualFold(label, "title") {
		line = cleanLine(rest)
	}
	return cutWords(line, maxTitle)
}

// marks are the characters that models put around a title.
const marks = " #*_>-\"'“”‘’«»`"

// cleanLine joins a text to one line, without quotes and Markdown.
func cleanLine(text string) string {
	text = strings.Join(strings.Fields(sanitize.Text(text)), " ")
	text = strings.NewReplacer("**", "", "`", "").Replace(text)
	return sanitize.Line(strings.Trim(text, marks))
}

// cutWords cuts a line to n characters, at a word boundary if possible.
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
