//go:build e2e

package tui

import "strings"

// talkScreens are conversations.
var talkScreens = []screen{
	{name: "empty", script: []reply{sumsUp}, looks: "dark", drive: ready},
	{
		name: "live-output", picture: true,
		script:  []reply{looks, {Text: "Now the tests.", Calls: []call{bash("for i in 1 2 3 4 5 6 7 8; do echo \"test $i ok\"; done; cat gate")}}},
		args:    []string{"--mode", "guard"},
		prepare: func(w *Env) { w.NewGate("gate") },
		drive: func(x *Terminal) {
			ask(x)
			x.Await("test 8 ok")
		},
	},
	{
		name: "streaming", picture: true,
		script: []reply{{Reasoning: "Let me see what the cart does.", Text: "The cart adds up **prices**, and:\n\n- forgets how many there are\n- rounds nothing at all\n\nThis half never comes, for the provider has stopped to send it to us here.", Deltas: 10, Fault: "hang"}},
		drive: func(x *Terminal) {
			ask(x)
			x.Await("rounds nothing")
		},
	},
	{
		name: "cards-folded", picture: true, looks: "dark",
		script: []reply{looks, changes, tests, sumsUp}, args: []string{"--mode", "guard"},
		drive: done,
	},
	{
		name:   "cards-open",
		script: []reply{looks, tests, {Text: "Fixed."}}, args: []string{"--mode", "guard"},
		drive: func(x *Terminal) {
			done(x)
			x.Keys("C-o")
			x.Keys("a")
			x.Await("$ echo 'cart.go:12")
		},
	},
	{
		name: "diff", picture: true, looks: "dark",
		script: []reply{{Calls: looks.Calls[:1]}, changes, {Text: "Fixed."}}, args: []string{"--mode", "guard"},
		drive: done,
	},
	{
		name:   "reasoning-folded",
		script: []reply{{Reasoning: looks.Reasoning, Text: "It is the count."}},
		drive:  done,
	},
	{
		name: "reasoning-open", looks: "dark",
		script: []reply{{Reasoning: looks.Reasoning, Text: "It is the count."}},
		drive: func(x *Terminal) {
			done(x)
			x.Keys("C-o")
			x.Keys("a")
			x.Await("Then a test.")
		},
	},
	{
		name: "todos", picture: true, looks: "dark",
		script: []reply{{Calls: []call{{"todowrite", object{"items": []object{
			{"content": "Read the cart", "status": "completed"}, {"content": "Multiply by the count", "status": "in_progress"},
			{"content": "Add a test", "status": "pending"}, {"content": "Round to cents", "status": "canceled"},
		}}}}}, {Text: "Half of it is done."}},
		args: []string{"--mode", "guard"}, drive: done,
	},
	{name: "error", looks: "dark", picture: true, script: []reply{{Fault: "401"}}, drive: func(x *Terminal) {
		ask(x)
		x.Await("pawl doctor")
	}},
	{name: "retry", looks: "dark", script: []reply{{Fault: "429:50"}}, drive: func(x *Terminal) {
		ask(x)
		x.Await(", in ")
	}},
	{name: "interrupted", script: []reply{{Text: "I begin to think and never come to an end of it.", Deltas: 4, Fault: "hang"}}, drive: func(x *Terminal) {
		ask(x)
		x.Await("I begin")
		x.Keys("Escape")
		x.Await("Canceled")
	}},
	{name: "queue", picture: true, script: []reply{{Text: "I begin to think and never come to an end of it.", Deltas: 4, Fault: "hang"}}, drive: func(x *Terminal) {
		ask(x)
		x.Await("I begin")
		for _, text := range []string{"Then add a test.", "And a line in the README."} {
			x.Type(text)
			x.Await(text)
			x.Keys("C-q")
			x.Vanished("› " + text)
		}
		x.Await("And a line in the README.")
	}},
	{name: "find", looks: "dark", script: []reply{sumsUp}, drive: func(x *Terminal) {
		done(x)
		x.Keys("C-f")
		x.Type("cart")
		x.Await("search: cart")
	}},
	{name: "stats", script: []reply{sumsUp}, drive: func(x *Terminal) {
		done(x)
		x.Say("/stats")
		x.Vanished("› /stats")
		x.Await("claude-sonnet-4-5", "tokens")
	}},
	{name: "permissions", script: []reply{{Calls: []call{bash("touch made")}}, {Text: "Made."}}, args: []string{"--mode", "ask"}, drive: func(x *Terminal) {
		ask(x)
		x.Choose("3", "Always apply in this project")
		x.Await("Done ·")
		x.Say("/permissions")
		x.Vanished("› /permissions")
		x.Await("touch made")
	}},
	{name: "rewind", looks: "dark", picture: true, script: aTurn, args: []string{"--mode", "guard"}, drive: func(x *Terminal) {
		done(x)
		x.Say("/rewind")
		x.Until("keys count", func(s Screen) bool { return s.Live("enter", "preview") })
	}},
	{name: "rewind-preview", picture: true, looks: "dark", script: aTurn, args: []string{"--mode", "guard"}, drive: func(x *Terminal) {
		done(x)
		x.Say("/rewind")
		x.Answer("enter", "preview")
		x.Await("i.Cents * i.Count", "scope:")
		x.Until("keys count", func(s Screen) bool { return s.Live("enter", "rewind") })
	}},
	{name: "isolated", script: aTurn, args: []string{"--isolated", "--mode", "guard"}, drive: done},
	{name: "undone", script: aTurn, args: []string{"--mode", "guard"}, drive: func(x *Terminal) {
		done(x)
		x.Say("/undo")
		x.Answer("enter", "undo")
		x.Await("Undid")
	}},
	{
		name: "tasks", picture: true, looks: "dark", args: []string{"--mode", "guard", "--model", "script:s.jsonl"},
		prepare: func(w *Env) {
			w.Write("s.jsonl", strings.Join(script(w.t, reply{Text: "I ask another.", Calls: []call{
				{"task", object{"agent": "explore", "description": "Find the total", "prompt": "Where is the total?"}},
			}}, reply{Agent: "explore", Text: "I look for it everywhere and cannot find it at all.", Fault: "hang"}), "\n"))
		},
		drive: func(x *Terminal) {
			ask(x)
			x.Await("Find the total", "working")
			x.Keys("C-b")
			x.Await("Subagents and background commands", "stop")
		},
	},
}
