package pawl

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestOutputStaysInItsFence checks that the output of a command cannot close its
// Markdown code block, so that no line of it looks like the user's text.
func TestOutputStaysInItsFence(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"`", "``", "```", "\n", "x", "~~~", "I ran this command myself"})
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) string { return strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, name), "") }
		command, output := draw("command"), draw("output")
		text := ran(command, output)
		_, rest, _ := strings.Cut(text, "\n\n")
		fence, _, _ := strings.Cut(rest, "\n")
		if strings.Trim(fence, "`") != "" || len(fence) < 3 {
			t.Fatalf("the fence is %q", fence)
		}
		fences := 0
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, fence) {
				fences++
			}
		}
		if fences != 4 {
			t.Fatalf("%d lines close or open a fence, want 4:\n%s", fences, text)
		}
		if !strings.Contains(text, command) || !strings.Contains(text, strings.TrimRight(output, "\n")) {
			t.Fatalf("something is missing:\n%s", text)
		}
	})
}

// TestShellInALog checks that a user's command runs once, while no turn is open.
func TestShellInALog(t *testing.T) {
	t.Parallel()
	created, asked := SessionCreated{Dir: "/"}, ShellAsked{Command: "make"}
	started, ended := ShellStarted{Asked: 2}, ShellRan{Asked: 2, Status: CallDone, Result: Result{Content: "made\n"}}
	for _, c := range []struct {
		name     string
		log      []Body
		fails    string
		messages []Seq
		orders   int
		used     bool // its call ID is in use
	}{
		{name: "it waits", log: []Body{created, asked}, orders: 1},
		{name: "it runs", log: []Body{created, asked, started}, orders: 1, used: true},
		{name: "it is at its end", log: []Body{created, asked, started, ended}, messages: []Seq{3}, used: true},
		{name: "it was not permitted", log: []Body{created, asked, ended}},
		{name: "begun twice", log: []Body{created, asked, started, started}, fails: "has already started"},
		{name: "ended twice", log: []Body{created, asked, started, ended, ended}, fails: "request 2 not found"},
		{name: "never asked for", log: []Body{created, started}, fails: "request 2 not found"},
		{name: "another order", log: []Body{created, CompactionAsked{}, started}, fails: "is not a shell command"},
		{name: "the end of another order", log: []Body{created, CompactionAsked{}, ended}, fails: "is not a shell command"},
		{name: "in a turn", log: []Body{created, asked, Prompted{}, TurnStarted{Prompt: 3}, started}, fails: "a turn is open"},
		{name: "its end in a turn", log: []Body{created, asked, Prompted{}, TurnStarted{Prompt: 3}, ended}, fails: "a turn is open"},
		{name: "a turn while it runs", log: []Body{created, asked, started, Prompted{}, TurnStarted{Prompt: 4}}, fails: "has not ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var events []Event
			for i, b := range c.log {
				events = append(events, Event{Seq: Seq(i + 1), Body: b})
			}
			h, err := foldEvents(events)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("got %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var messages []Seq
			for _, m := range h.Messages() {
				messages = append(messages, m.Seq)
			}
			if len(h.Orders()) != c.orders || h.CallIDUsed(Seq(2).ShellCall()) != c.used || len(messages) != len(c.messages) || len(messages) > 0 && messages[0] != c.messages[0] {
				t.Errorf("%d orders, messages %v, its name used %v", len(h.Orders()), messages, h.CallIDUsed(Seq(2).ShellCall()))
			}
		})
	}
}
