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

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/plain"
)

// asker puts what a session asks to the person at the terminal.
type asker struct {
	svc   pawl.Service
	id    pawl.SessionID
	in    io.Reader
	out   io.Writer
	lines chan string // what the person types; made with the first ask
	end   map[pawl.Seq]context.CancelFunc
}

// event begins to ask, or stops once there is an answer.
func (a *asker) event(ctx context.Context, e pawl.Event) {
	switch b := e.Body.(type) {
	case pawl.Asked:
		if a.lines == nil {
			a.lines = make(chan string)
			go a.read()
		}
		ctx, cancel := context.WithCancel(ctx)
		if a.end == nil {
			a.end = map[pawl.Seq]context.CancelFunc{}
		}
		a.end[e.Seq] = cancel
		go a.ask(ctx, e.Seq, b.Ask)
	case pawl.Answered:
		if cancel := a.end[b.Ask]; cancel != nil {
			cancel()
		}
	default: // asks nothing
	}
}

// read hands on what is typed, line by line, as long as the program runs.
func (a *asker) read() {
	scanner := bufio.NewScanner(a.in)
	for scanner.Scan() {
		a.lines <- scanner.Text()
	}
	close(a.lines)
}

// ask puts the questions one after the other, then answers for the person.
func (a *asker) ask(ctx context.Context, seq pawl.Seq, ask pawl.Ask) {
	if ask.Text != "" {
		fmt.Fprintf(a.out, "\n%s\n", strings.TrimRight(plain.Marked(ask.Text), "\n"))
	}
	answer := pawl.Answer{Outcome: pawl.OutcomeAnswered}
	for _, q := range ask.Questions {
		chosen, err := a.question(ctx, q)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			answer = pawl.Answer{Outcome: pawl.OutcomeDeclined}
			break
		}
		answer.Answers = append(answer.Answers, chosen)
	}
	if err := a.svc.Answer(ctx, a.id, seq, answer); err != nil && !errors.Is(err, pawl.ErrConflict) && ctx.Err() == nil {
		fmt.Fprintf(a.out, "pawl: %v\n", err)
	}
}

var errDeclined = errors.New("declined")

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
	fmt.Fprintf(a.out, "  %s (Enter alone declines): ", hint)
	select {
	case line, ok := <-a.lines:
		if line = strings.TrimSpace(line); !ok || line == "" {
			return nil, errDeclined
		}
		return choose(q, line), nil
	case <-ctx.Done():
		fmt.Fprintln(a.out, "(no answer is needed any more)")
		return nil, ctx.Err()
	}
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
