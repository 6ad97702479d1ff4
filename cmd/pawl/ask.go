package main

import (
	"bufio"
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
	"github.com/pawl-dev/pawl/internal/plain"
	"github.com/pawl-dev/pawl/internal/weak"
)

// dwell is how long a question must have been seen before an answer counts: what
// was typed before it, or just as it came up, was meant for something else.
const dwell = 300 * time.Millisecond

// asker puts what a session and its children ask to the person at the terminal,
// one thing at a time.
type asker struct {
	svc pawl.Service
	in  io.Reader
	out io.Writer

	lines func() <-chan line // what the person types; read from the first ask on
	turn  chan struct{}      // held by the ask that is on the screen

	mu  sync.Mutex
	end map[askID]context.CancelFunc
}

type askID struct {
	session pawl.SessionID
	seq     pawl.Seq
}

// line is what the person typed, and when.
type line struct {
	text string
	at   time.Time
}

func newAsker(svc pawl.Service, in io.Reader, out io.Writer) *asker {
	a := &asker{svc: svc, in: in, out: out, turn: make(chan struct{}, 1), end: map[askID]context.CancelFunc{}}
	a.lines = sync.OnceValue(func() <-chan line {
		lines := make(chan line)
		go a.read(lines)
		return lines
	})
	return a
}

// catchUp asks what a session that is taken up again has asked before.
func (a *asker) catchUp(ctx context.Context, s pawl.Session) error {
	if !s.TurnOpen {
		return nil
	}
	open := map[pawl.Seq]pawl.Event{}
	for e, err := range a.svc.Events(ctx, s.ID, 0) {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case pawl.Asked:
			open[e.Seq] = e
		case pawl.Answered:
			delete(open, b.Ask)
		case pawl.TurnFinished:
			clear(open)
		default: // asks nothing
		}
		if e.Seq >= s.Head {
			break
		}
	}
	for _, e := range open {
		a.event(ctx, e)
	}
	return nil
}

// event begins to ask, or stops once there is an answer.
func (a *asker) event(ctx context.Context, e pawl.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch b := e.Body.(type) {
	case pawl.Asked:
		ctx, cancel := context.WithCancel(ctx)
		a.end[askID{e.Session, e.Seq}] = cancel
		go a.ask(ctx, askID{e.Session, e.Seq}, b.Ask)
	case pawl.Answered:
		if cancel := a.end[askID{e.Session, b.Ask}]; cancel != nil {
			cancel()
		}
	case pawl.Spawned:
		go a.child(ctx, b.Child)
	default: // asks nothing
	}
}

// child hears what a child asks, as long as its parent is followed.
func (a *asker) child(ctx context.Context, id pawl.SessionID) {
	for ctx.Err() == nil {
		for e, err := range a.svc.Events(ctx, id, 0) {
			if err != nil {
				break
			}
			a.event(ctx, e)
			if _, ended := e.Body.(pawl.TurnFinished); ended {
				return
			}
		}
		select { // it is announced before it is made
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// read hands on what is typed, line by line, as long as the program runs.
func (a *asker) read(lines chan<- line) {
	scanner := bufio.NewScanner(a.in)
	for scanner.Scan() {
		lines <- line{scanner.Text(), time.Now()}
	}
	close(lines)
}

// ask puts the questions one after the other, then answers for the person.
func (a *asker) ask(ctx context.Context, id askID, ask pawl.Ask) {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return
	}
	if ask.Text != "" {
		text := ask.Text
		if !weak.On("show.codes") {
			text = plain.Marked(text)
		}
		fmt.Fprintf(a.out, "\n%s\n", strings.TrimRight(text, "\n"))
	}
	answer, err := a.answer(ctx, ask)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		answer = pawl.Answer{Outcome: pawl.OutcomeDeclined}
	}
	if err := a.svc.Answer(ctx, id.session, id.seq, answer); err != nil && !errors.Is(err, pawl.ErrConflict) && ctx.Err() == nil {
		fmt.Fprintf(a.out, "pawl: %v\n", err)
	}
}

func (a *asker) answer(ctx context.Context, ask pawl.Ask) (pawl.Answer, error) {
	if ask.Kind == pawl.AskPermission {
		return a.permission(ctx, ask)
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

// permission asks whether a call may run.
func (a *asker) permission(ctx context.Context, ask pawl.Ask) (pawl.Answer, error) {
	choices := "y) once"
	if len(ask.Offer) > 0 {
		choices += "   a) always, by what is shown above"
	}
	for {
		typed, err := a.prompt(ctx, "? Permit it?   "+choices+"   n) no, and stop   or say what to do instead: ")
		if err != nil {
			return pawl.Answer{}, err
		}
		switch word := strings.ToLower(typed); {
		case word == "y" || word == "yes":
			return pawl.Answer{Outcome: pawl.OutcomeAnswered}, nil
		case (word == "a" || word == "always") && len(ask.Offer) > 0:
			return pawl.Answer{Outcome: pawl.OutcomeAnswered, Always: ask.Offer}, nil
		case word == "a" || word == "always":
			fmt.Fprintln(a.out, "  always is not offered for this")
		case word == "n" || word == "no":
			return pawl.Answer{Outcome: pawl.OutcomeDeclined}, nil
		default:
			return pawl.Answer{Outcome: pawl.OutcomeDeclined, Text: typed}, nil
		}
	}
}

var errDeclined = errors.New("declined")

// prompt shows a hint and returns what is typed after it.
func (a *asker) prompt(ctx context.Context, hint string) (string, error) {
	fmt.Fprint(a.out, hint)
	for shown := time.Now(); ; {
		select {
		case l, ok := <-a.lines():
			if ok && l.at.Before(shown.Add(dwell)) && !weak.On("ask.dwell") {
				fmt.Fprintf(a.out, "(what was typed before the question does not count)\n%s", hint)
				shown = time.Now() // anew: showing it may have taken long
				continue
			}
			text := strings.TrimSpace(l.text)
			if !ok || text == "" {
				return "", errDeclined
			}
			return text, nil
		case <-ctx.Done():
			fmt.Fprintln(a.out, "(no answer is needed any more)")
			return "", ctx.Err()
		}
	}
}

// question shows one question and returns what was chosen or typed.
func (a *asker) question(ctx context.Context, q pawl.Question) ([]string, error) {
	fmt.Fprintf(a.out, "\n? %s: %s\n", plain.Line(q.Header), plain.Marked(q.Question))
	for i, o := range q.Options {
		fmt.Fprintf(a.out, "  %d) %s", i+1, plain.Line(o.Label))
		if o.Description != "" {
			fmt.Fprintf(a.out, " (%s)", plain.Line(o.Description))
		}
		fmt.Fprintln(a.out)
	}
	hint := "a number, or your own words"
	if q.Multiple {
		hint = "numbers with commas between, or your own words"
	}
	typed, err := a.prompt(ctx, "  "+hint+" (Enter alone declines): ")
	if err != nil {
		return nil, err
	}
	return choose(q, typed), nil
}

// choose reads a line as the numbers of options, or else as an answer in words.
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
