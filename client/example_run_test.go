package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/client"
)

// Runs a prompt in a new session, and allows what it asks for.
func ExampleClient_Run() {
	at := startExample(
		`{"calls":[{"name":"write","input":{"path":"note.txt","content":"hello\n"}}]}`,
		`{"text":"It is written.","usage":{"input":1200,"output":40}}`)
	defer at.stop()
	ctx := context.Background()

	c, err := client.New(client.Config{URL: at.url}) // e.g. unix:///run/user/1000/pawl/pawl.sock
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	turn, err := c.Run(ctx, client.RunConfig{
		New:    pawl.NewSession{Dir: at.dir},
		Prompt: pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "Write a note."}}, Settings: pawl.Settings{Model: at.model, Mode: "ask"}},
		OnItem: func(it client.Item) {
			if it.Kind == "call" && it.State == "done" {
				fmt.Println("called", it.Call.Tool)
			}
		},
		OnAsk: func(_ context.Context, a client.OpenAsk) (*pawl.Answer, error) {
			return client.Choose(a, "allow"), nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(turn.Reason, turn.Text, turn.Usage.Tokens())

	items, _, err := c.Items(ctx, turn.Session, "", 0)
	if err != nil {
		log.Fatal(err)
	}
	for _, it := range items {
		fmt.Println("-", it.Kind)
	}
	// Output:
	// called write
	// end_turn It is written. 1240
	// - user
	// - call
	// - ask
	// - text
	// - turn_end
}

// Follows the transcript of a session until its turn ends.
func ExampleClient_FollowItems() {
	at := startExample(`{"text":"The build is fixed.","deltas":3}`)
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
	prompt := pawl.Prompt{Parts: pawl.Parts{pawl.Text{Text: "Fix the build."}}, Settings: pawl.Settings{Model: at.model}}
	if _, err := c.Send(ctx, s.ID, prompt); err != nil {
		log.Fatal(err)
	}
	for list, err := range c.FollowItems(ctx, s.ID, 0) {
		if err != nil {
			log.Fatal(err)
		}
		if n := len(list.Items); n > 0 && list.Items[n-1].Kind == "turn_end" {
			for _, it := range list.Items {
				fmt.Println(it.Kind, it.Text)
			}
			return
		}
	}
	// Output:
	// user Fix the build.
	// text The build is fixed.
	// turn_end Done
}

// Follows the newest sessions and open asks.
func ExampleClient_Follow() {
	at := startExample()
	defer at.stop()
	ctx := context.Background()

	c, err := client.New(client.Config{URL: at.url})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Create(ctx, pawl.NewSession{Dir: at.dir, Title: "Fix the build"}); err != nil {
		log.Fatal(err)
	}
	for feed, err := range c.Follow(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(feed.Sessions[0].Title, len(feed.Asks))
		break
	}
	// Output: Fix the build 0
}
