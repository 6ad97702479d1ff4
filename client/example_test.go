package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
)

// Creates a session, sends a prompt, and follows its events until the turn ends.
func Example() {
	at := startExample(`{"text":"The build is fixed.","usage":{"input":1200,"output":40}}`)
	defer at.stop()
	ctx := context.Background()

	c, err := client.New(client.Config{URL: at.url}) // e.g. unix:///run/user/1000/pawl/pawl.sock
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	s, err := c.Create(ctx, pawl.NewSession{Dir: at.dir})
	if err != nil {
		log.Fatal(err)
	}
	prompt := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "Fix the build."}}, Settings: pawl.Settings{Model: at.model}}
	seq, err := c.Send(ctx, s.ID, prompt)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("accepted as event", seq)

	for e, err := range c.Events(ctx, s.ID, 0) {
		if err != nil {
			log.Fatal(err)
		}
		switch b := e.Body.(type) {
		case pawl.Replied:
			fmt.Println(b.Parts.Text())
		case pawl.TurnFinished:
			fmt.Printf("%s after %d step, %d tokens\n", b.Reason, b.Steps, b.Usage.Tokens())
			return
		default: // docs/events.md lists all of them
		}
	}
	// Output:
	// accepted as event 2
	// The build is fixed.
	// end_turn after 1 step, 1240 tokens
}

// Answers a permission prompt.
func ExampleClient_Answer() {
	at := startExample(
		`{"calls":[{"name":"write","input":{"path":"note.txt","content":"hello\n"}}]}`,
		`{"text":"It is written."}`)
	defer at.stop()
	ctx := context.Background()

	c, err := client.New(client.Config{URL: at.url})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	s, err := c.Create(ctx, pawl.NewSession{Dir: at.dir})
	if err != nil {
		log.Fatal(err)
	}
	prompt := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "Write a note."}}, Settings: pawl.Settings{Model: at.model, Mode: "ask"}}
	if _, err := c.Send(ctx, s.ID, prompt); err != nil {
		log.Fatal(err)
	}

	for e, err := range c.Events(ctx, s.ID, 0) {
		if err != nil {
			log.Fatal(err)
		}
		switch b := e.Body.(type) {
		case pawl.Asked:
			fmt.Println("asked for a", b.Kind)
			if err := c.Answer(ctx, s.ID, e.Seq, pawl.Answer{Outcome: pawl.OutcomeAnswered}); err != nil {
				log.Fatal(err)
			}
		case pawl.CallFinished:
			fmt.Println("the call is", b.Status)
		case pawl.TurnFinished:
			return
		default:
		}
	}
	// Output:
	// asked for a permission
	// the call is done
}

// Errors have the same class as in a local service.
func ExampleClient_Get() {
	at := startExample()
	defer at.stop()
	c, err := client.New(client.Config{URL: at.url})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = c.Get(context.Background(), "01JD0000000000000000000000")
	fmt.Println(pawl.CodeOf(err))
	// Output: not_found
}
