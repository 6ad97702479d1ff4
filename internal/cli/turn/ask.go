package turn

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/cli"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// answerDelay is how long a prompt must be visible before an answer counts. What was typed earlier was meant for
// something else.
const answerDelay = 300 * time.Millisecond

// Asker shows the permission prompts and questions of a session and its subagents to the user at the terminal, one at a
// time. Without a terminal it denies them.
type Asker struct {
	OnAsk func() // called for each prompt that is shown; may be nil

	svc pawl.Service
	in  io.Reader // nil if nobody can answer
	out io.Writer

	lines func() <-chan line // the user's input; reading starts with the first prompt
	turn  chan struct{}      // held by the prompt on the screen

	mu  sync.Mutex
	end map[askID]context.CancelFunc
}

type askID struct {
	session pawl.SessionID
	seq     pawl.Seq
}

// line is a line of input, with the time at which it was read.
type line struct {
	text string
	at   time.Time
}

// origin describes the session that asks; "" means the session that is followed.
type origin string

// NewAsker returns an Asker that reads answers from in; nil means that nobody can answer.
func NewAsker(svc pawl.Service, in io.Reader, out io.Writer) *Asker {
	a := &Asker{svc: svc, in: in, out: out, turn: make(chan struct{}, 1), end: map[askID]context.CancelFunc{}}
	a.lines = sync.OnceValue(func() <-chan line {
		lines := make(chan line)
		go a.read(lines)
		return lines
	})
	return a
}

// Replay processes the earlier events of a session, and shows the prompts of the session and its subagents that are
// still open.
func (a *Asker) Replay(ctx context.Context, who origin, events []pawl.Event) {
	var open []pawl.Event
	for _, e := range events {
		switch b := e.Body.(type) {
		case pawl.Asked, pawl.Spawned, pawl.TaskStarted, pawl.ReviewStarted:
			open = append(open, e)
		case pawl.Answered:
			open = slices.DeleteFunc(open, func(e pawl.Event) bool { return e.Seq == b.Ask })
		case pawl.TurnFinished:
			open = nil
		default: // not about prompts
		}
	}
	for _, e := range open {
		a.Event(ctx, who, e)
	}
}

// Event shows a new prompt, or cancels one that was answered elsewhere.
func (a *Asker) Event(ctx context.Context, who origin, e pawl.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch b := e.Body.(type) {
	case pawl.Asked:
		id := askID{e.Session, e.Seq}
		if a.end[id] != nil {
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		a.end[id] = cancel
		if a.OnAsk != nil {
			a.OnAsk()
		}
		go a.ask(ctx, id, who, b.Ask)
	case pawl.Answered:
		if cancel := a.end[askID{e.Session, b.Ask}]; cancel != nil {
			cancel()
		}
	case pawl.Spawned, pawl.TaskStarted, pawl.ReviewStarted:
		c, _ := e.Subagent()
		go a.followSubagent(ctx, c)
	default: // not about prompts
	}
}

// followSubagent shows the prompts of a subagent while its parent is followed.
func (a *Asker) followSubagent(ctx context.Context, c pawl.Spawned) {
	who := origin(fmt.Sprintf("subagent %q (%s)", sanitize.Line(c.Title), c.Agent))
	row, err := a.svc.Get(ctx, c.Subagent)
	for errors.Is(err, pawl.ErrNotFound) { // it is announced before it is created
		select {
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
			row, err = a.svc.Get(ctx, c.Subagent)
		}
	}
	if err == nil {
		err = a.followAsks(ctx, who, row)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(a.out, "pawl: cannot receive permission prompts of %s: %v\n", who, err)
	}
}

// followAsks shows the open prompts of a session, then new ones until its turn ends.
func (a *Asker) followAsks(ctx context.Context, who origin, s pawl.Session) error {
	past, err := cli.SessionEvents(ctx, a.svc, s)
	if err != nil {
		return err
	}
	a.Replay(ctx, who, past)
	if s.State() == pawl.StateIdle && s.Turns > 0 {
		return nil
	}
	for e, err := range a.svc.Events(ctx, s.ID, s.Head) {
		if err != nil {
			return err
		}
		a.Event(ctx, who, e)
		if _, ended := e.Body.(pawl.TurnFinished); ended {
			return nil
		}
	}
	return ctx.Err()
}

// read sends the input to lines, line by line, until it ends.
func (a *Asker) read(lines chan<- line) {
	scanner := bufio.NewScanner(a.in)
	for scanner.Scan() {
		lines <- line{scanner.Text(), time.Now()}
	}
	close(lines)
}

// ask waits until no other prompt is on the screen, shows the prompt and sends the answer. It asks again if the answer
// is invalid.
func (a *Asker) ask(ctx context.Context, id askID, who origin, ask pawl.Ask) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return
	}
	for ctx.Err() == nil {
		answer, err := a.show(ctx, who, ask)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			answer = pawl.Answer{Outcome: pawl.OutcomeDenied}
		}
		answer.Names = ask.Names // it counts only for what was shown
		err = a.svc.Answer(ctx, id.session, id.seq, answer)
		if err == nil || errors.Is(err, pawl.ErrConflict) || ctx.Err() != nil {
			return
		}
		fmt.Fprintf(a.out, "pawl: %v\n", err)
		if !errors.Is(err, pawl.ErrInvalid) {
			return
		}
	}
}

// showAll returns a text with invisible characters made visible.
func showAll(text string) string {
	return sanitize.Marked(text)
}

// show prints the prompt and returns the user's answer.
func (a *Asker) show(ctx context.Context, who origin, ask pawl.Ask) (pawl.Answer, error) {
	if a.in == nil {
		return pawl.Answer{Outcome: pawl.OutcomeDenied, Text: "no user is present"}, nil
	}
	fmt.Fprintln(a.out)
	if who != "" {
		fmt.Fprintf(a.out, "%s asks:\n", who)
	}
	switch {
	case ask.Kind == pawl.AskPermission:
		fmt.Fprint(a.out, cli.WrapLines(showAll(ask.Text), cli.Columns(a.out)))
		if ask.Risk != "" {
			fmt.Fprintf(a.out, "Risk\n  %s\n", sanitize.Line(ask.Risk))
		}
	case ask.Text != "":
		fmt.Fprintln(a.out, showAll(strings.TrimRight(ask.Text, "\n")))
	}
	return a.answer(ctx, ask)
}

func (a *Asker) answer(ctx context.Context, ask pawl.Ask) (pawl.Answer, error) {
	switch ask.Kind {
	case pawl.AskPermission:
		return a.permission(ctx, ask)
	case pawl.AskLoop:
		return a.continueTurn(ctx)
	default:
	}
	answer := pawl.Answer{Outcome: pawl.OutcomeAnswered}
	for _, q := range ask.Questions {
		chosen, err := a.question(ctx, q)
		if err != nil {
			return answer, err
		}
		answer.Answers = append(answer.Answers, chosen)
	}
	return answer, nil
}

// permission asks the user whether to allow a call, or to apply the changes of a command that has run.
func (a *Asker) permission(ctx context.Context, ask pawl.Ask) (pawl.Answer, error) {
	hint, answers := "? Allow this?", map[string]pawl.Answer{}
	if ask.Ran {
		hint = "? Apply this?"
	}
	for _, c := range transcript.Choices(ask) {
		key, text := map[string]string{"allow": "yes", "session": "session", "always": "always", "deny": "no"}[c.Name], strings.ToLower(c.Label)
		switch c.Name {
		case "session", "always":
			text += ", as shown above"
		case "deny":
			text += " and stop"
		}
		hint += "   " + key[:1] + ") " + text
		answers[key], answers[key[:1]] = c.Answer, c.Answer
	}
	for {
		typed, err := a.prompt(ctx, hint+"   or type what to do instead: ")
		if err != nil {
			return pawl.Answer{}, err
		}
		word := strings.ToLower(typed)
		answer, ok := answers[word]
		switch {
		case ok:
			return answer, nil
		case word == "": // Enter alone is not an answer
		case word == "a" || word == "always" || word == "s" || word == "session":
			fmt.Fprintln(a.out, "  this can only be allowed once")
		default:
			return pawl.Answer{Outcome: pawl.OutcomeDenied, Text: typed}, nil
		}
	}
}

// continueTurn asks the user whether to continue a turn that appears to be in a loop.
func (a *Asker) continueTurn(ctx context.Context) (pawl.Answer, error) {
	for {
		typed, err := a.prompt(ctx, "? Continue?   y) yes   n) no, end the turn   or type what to do instead: ")
		if err != nil {
			return pawl.Answer{}, err
		}
		switch strings.ToLower(typed) {
		case "": // Enter alone is not an answer
		case "y", "yes":
			return pawl.Answer{Outcome: pawl.OutcomeAnswered}, nil
		case "n", "no":
			return pawl.Answer{Outcome: pawl.OutcomeDenied}, nil
		default:
			return pawl.Answer{Outcome: pawl.OutcomeAnswered, Text: typed}, nil
		}
	}
}

var errDenied = errors.New("denied")

// prompt prints a hint and returns the line that is typed after it, "" for Enter alone. It discards everything that was
// typed before, even a partial line.
func (a *Asker) prompt(ctx context.Context, hint string) (string, error) {
	from, err := a.discardEarly(ctx)
	if err != nil {
		return "", err
	}
	fmt.Fprint(a.out, hint)
	for {
		select {
		case l, ok := <-a.lines():
			if !ok {
				return "", errDenied
			}
			if l.at.Before(from) {
				continue // it was read before the hint was printed
			}
			return strings.TrimSpace(l.text), nil
		case <-ctx.Done():
			fmt.Fprintln(a.out, "(no longer needed)")
			return "", ctx.Err()
		}
	}
}

// discardEarly discards input until none has arrived for answerDelay, and returns the current time: input from before
// it does not count.
func (a *Asker) discardEarly(ctx context.Context) (from time.Time, err error) {
	over := time.NewTimer(answerDelay)
	defer over.Stop()
	for early := false; ; {
		select {
		case _, ok := <-a.lines():
			if !ok {
				return from, errDenied
			}
			if !early {
				fmt.Fprintln(a.out, "(ignored input from before the question)")
			}
			early = true
			over.Reset(answerDelay) // start waiting again
		case <-over.C:
			cli.DiscardInput(a.in)
			return time.Now(), nil
		case <-ctx.Done():
			return from, ctx.Err()
		}
	}
}

// question prints a question, and returns the chosen options or the text that was typed.
func (a *Asker) question(ctx context.Context, q pawl.Question) ([]string, error) {
	fmt.Fprintf(a.out, "? %s: %s\n", sanitize.Line(q.Header), sanitize.Marked(q.Question))
	for i, o := range q.Options {
		fmt.Fprintf(a.out, "  %d) %s", i+1, sanitize.Line(o.Label))
		if o.Description != "" {
			fmt.Fprintf(a.out, " (%s)", sanitize.Line(o.Description))
		}
		fmt.Fprintln(a.out)
	}
	hint := "number or your own answer"
	if q.Multiple {
		hint = "numbers, separated by commas, or your own answer"
	}
	typed, err := a.prompt(ctx, "  "+hint+" (empty to deny): ")
	if err != nil || typed == "" {
		return nil, cmp.Or(err, errDenied)
	}
	return choose(q, typed), nil
}

// choose parses a line as numbers of options. A line that is anything else is itself the answer.
func choose(q pawl.Question, line string) []string {
	words := []string{line}
	if q.Multiple {
		words = strings.Split(line, ",")
	}
	var chosen []string
	for _, word := range words {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > len(q.Options) {
			return []string{line}
		}
		if label := q.Options[n-1].Label; !slices.Contains(chosen, label) {
			chosen = append(chosen, label)
		}
	}
	return chosen
}
