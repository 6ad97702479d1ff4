package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/pawl-dev/pawl"
)

// Create a session, send a prompt, and follow the session until the turn ends.
func Example() {
	svc, dir, model := exampleService(`{"text":"The build is fixed.","usage":{"input":1200,"output":40}}`)
	defer svc.Close()
	ctx := context.Background()

	session, err := svc.Create(ctx, pawl.NewSession{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	prompted, err := svc.Send(ctx, session.ID, pawl.Prompt{
		Parts:    pawl.Parts{pawl.Text{Text: "Fix the build."}},
		Settings: pawl.Settings{Model: model},
	})
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range svc.Events(ctx, session.ID, prompted) {
		if err != nil {
			log.Fatal(err)
		}
		switch b := e.Body.(type) {
		case pawl.Replied:
			fmt.Println(b.Parts.Text())
		case pawl.TurnFinished:
			fmt.Printf("%s after %d step, %d tokens\n", b.Reason, b.Steps, b.Usage.Tokens())
			return
		default: // docs/events.md describes the others
		}
	}
	// Output:
	// The build is fixed.
	// end_turn after 1 step, 1240 tokens
}

// A tool call that needs permission waits for an answer.
func ExampleService_answer() {
	svc, dir, model := exampleService(
		`{"calls":[{"name":"write","input":{"path":"note.txt","content":"hello\n"}}]}`,
		`{"text":"I wrote the note."}`)
	defer svc.Close()
	ctx := context.Background()

	session, err := svc.Create(ctx, pawl.NewSession{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	prompted, err := svc.Send(ctx, session.ID, pawl.Prompt{
		Parts:    pawl.Parts{pawl.Text{Text: "Write a note."}},
		Settings: pawl.Settings{Model: model, Mode: "ask"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range svc.Events(ctx, session.ID, prompted) {
		if err != nil {
			log.Fatal(err)
		}
		switch b := e.Body.(type) {
		case pawl.Asked:
			fmt.Println("asked for", b.Kind)
			err := svc.Answer(ctx, session.ID, e.Seq, pawl.Answer{Outcome: pawl.OutcomeAnswered})
			if err != nil {
				log.Fatal(err)
			}
		case pawl.CallFinished:
			fmt.Println("call", b.Status)
		case pawl.Replied:
			if text := b.Parts.Text(); text != "" {
				fmt.Println(text)
			}
		case pawl.TurnFinished:
			return
		default:
		}
	}
	// Output:
	// asked for permission
	// call done
	// I wrote the note.
}

// A reader that stops can continue later: Seq says where it was.
func ExampleService_events() {
	svc, dir, model := exampleService(`{"text":"Hello."}`)
	defer svc.Close()
	ctx := context.Background()

	session, err := svc.Create(ctx, pawl.NewSession{Dir: dir})
	if err != nil {
		log.Fatal(err)
	}
	_, err = svc.Send(ctx, session.ID, pawl.Prompt{
		Parts:    pawl.Parts{pawl.Text{Text: "Say hello."}},
		Settings: pawl.Settings{Model: model},
	})
	if err != nil {
		log.Fatal(err)
	}
	read := func(after pawl.Seq, until pawl.Kind) (last pawl.Seq) {
		for e, err := range svc.Events(ctx, session.ID, after) {
			if err != nil {
				log.Fatal(err)
			}
			if e.Seq == 0 {
				continue // unsaved: a piece of a reply that is being streamed
			}
			kind := pawl.KindOf(e.Body)
			fmt.Println(kind)
			if kind == until {
				return e.Seq
			}
		}
		return last
	}
	last := read(0, "prompted")
	fmt.Println("--")
	read(last, "replied")
	// Output:
	// session.created
	// prompted
	// --
	// turn.started
	// reply.started
	// replied
}

// exampleLog is the log of a session with one tool call.
func exampleLog() []pawl.Event {
	call := pawl.ToolCall{ID: "call_1", Name: "read", Input: json.RawMessage(`{"file_path":"go.mod"}`)}
	bodies := []pawl.Body{
		pawl.SessionCreated{Dir: "/home/ada/project"},
		pawl.Prompted{Parts: pawl.Parts{pawl.Text{Text: "Which Go version do we use?"}}},
		pawl.TurnStarted{Prompt: 2},
		pawl.ReplyStarted{Step: 1},
		pawl.Replied{Step: 1, Parts: pawl.Parts{call}, Finish: pawl.FinishToolUse},
		pawl.CallStarted{Call: "call_1", Tool: "read", ReadOnly: true},
		pawl.CallFinished{Call: "call_1", Status: pawl.CallDone, Result: pawl.Result{Content: "go 1.25"}},
		pawl.ReplyStarted{Step: 2},
		pawl.Replied{Step: 2, Parts: pawl.Parts{pawl.Text{Text: "Go 1.25."}}, Finish: pawl.FinishEndTurn},
	}
	var log []pawl.Event
	for i, b := range bodies {
		log = append(log, pawl.Event{Seq: pawl.Seq(i + 1), At: time.Unix(int64(i), 0), Body: b})
	}
	return log
}

func ExampleConversation() {
	messages, err := pawl.Conversation(exampleLog())
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range messages {
		for _, part := range m.Parts {
			switch p := part.(type) {
			case pawl.Text:
				fmt.Printf("%s: %s\n", m.Role, p.Text)
			case pawl.ToolCall:
				fmt.Printf("%s: calls %s\n", m.Role, p.Name)
			case pawl.ToolResult:
				fmt.Printf("%s: %s\n", m.Role, p.Content)
			default:
			}
		}
	}
	// Output:
	// user: Which Go version do we use?
	// assistant: calls read
	// tool: go 1.25
	// assistant: Go 1.25.
}

func ExampleFold() {
	history, err := pawl.Fold(pawl.SliceLog(exampleLog()))
	if err != nil {
		log.Fatal(err)
	}
	turn := history.Open()
	fmt.Println("directory:", history.Created().Dir)
	fmt.Printf("turn %d is open, with %d steps\n", turn.Number, len(turn.Steps))

	// New events update the history.
	err = history.Apply(pawl.Event{Seq: history.Head() + 1, Body: pawl.TurnFinished{Reason: pawl.ReasonEndTurn}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("open:", history.Open() != nil)
	// Output:
	// directory: /home/ada/project
	// turn 1 is open, with 2 steps
	// open: false
}

func ExampleCodeOf() {
	err := fmt.Errorf("get session: %w", pawl.ErrNotFound)
	fmt.Println(pawl.CodeOf(err), errors.Is(err, pawl.ErrNotFound))
	// Output: not_found true
}
