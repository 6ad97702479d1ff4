//go:build e2e

package tui

import (
	"fmt"
	"strings"
)

// listScreens are lists to choose from.
var listScreens = []screen{
	{name: "palette", picture: true, looks: "dark", script: []reply{sumsUp}, drive: func(x *Terminal) { ready(x); x.Keys("C-p"); x.Await("compact") }},
	{name: "slash", script: []reply{sumsUp}, drive: func(x *Terminal) { ready(x); x.Type("/s"); x.Await("/sessions") }},
	{name: "mention", picture: true, script: []reply{sumsUp}, drive: func(x *Terminal) { ready(x); x.Type("see @cart"); x.Await("cart/price.go") }},
	{name: "models", looks: "dark", script: []reply{sumsUp}, drive: func(x *Terminal) { ready(x); x.Keys("C-l"); x.Await("Models", "claude-sonnet-4-5") }},
	{name: "agents", script: []reply{sumsUp}, drive: func(x *Terminal) { ready(x); x.Keys("C-g"); x.Await("Agents", "build") }},
	{name: "modes", script: []reply{sumsUp}, drive: func(x *Terminal) { ready(x); x.Await("· guard ·"); x.Say("/mode"); x.Await("Read and plan", "guard") }},
	{name: "help", picture: true, script: []reply{sumsUp}, drive: func(x *Terminal) { ready(x); x.Keys("F1"); x.Await("Send the prompt; steers a running turn") }},
	{name: "sessions", picture: true, looks: "dark", script: []reply{{Text: "It is the count."}}, drive: func(x *Terminal) {
		done(x)
		x.Keys("C-n")
		x.Vanished("Done ·")
		x.Say("What does the shop sell?")
		x.Await("Done ·")
		x.Keys("C-s")
		x.Await("The total of a cart", "What does the shop")
	}},
	{name: "history-scrolled", script: []reply{{Text: story(40)}}, drive: func(x *Terminal) {
		done(x)
		for range 3 {
			x.Keys("PPage")
		}
		x.Await("more")
	}},
}

// lookScreens are the same conversation in other themes, and without colors.
var lookScreens = []screen{
	{name: "theme-light", looks: "light", picture: true, script: aTurn, args: []string{"--mode", "guard"}, prepare: themed("light"), drive: done},
	{name: "theme-contrast", looks: "contrast", script: aTurn, args: []string{"--mode", "guard"}, prepare: themed("contrast"), drive: done},
	{name: "theme-plain", looks: "plain", script: aTurn, args: []string{"--mode", "guard"}, prepare: themed("plain"), drive: done},
	{name: "no-color", looks: "plain", script: aTurn, args: []string{"--mode", "guard"}, prepare: func(w *Env) { w.Env = append(w.Env, "NO_COLOR=1") }, drive: done},
	{name: "ascii", script: aTurn, args: []string{"--mode", "guard"}, prepare: func(w *Env) { w.Env = append(w.Env, "LANG=C", "LC_ALL=C") }, drive: func(x *Terminal) {
		x.Await("Ask Pawl to do something")
		x.Say(fix)
		x.Await("Done ")
	}},
	{name: "themes", script: []reply{sumsUp}, drive: func(x *Terminal) {
		done(x)
		x.Say("/theme")
		x.Await("contrast", "light")
	}},
}

var aTurn = []reply{{Calls: looks.Calls[:1]}, changes, {Text: "Fixed."}}

func themed(name string) func(*Env) {
	return func(w *Env) { w.Config["tui"] = map[string]any{"theme": name} }
}

// askBefore lets commands reach a host, so that in ask mode they are asked about before they run.
func askBefore(w *Env) { w.Config["sandbox"] = map[string]any{"network": []string{"example.org"}} }

// smallScreens are screens of small terminals.
var smallScreens = []screen{
	{name: "small-talk", sizes: []Size{{40, 12}, {20, 10}}, script: []reply{looks, changes, {Text: "It is the **count**:\n\n- one\n- two"}}, args: []string{"--mode", "guard"}, drive: func(x *Terminal) {
		ready(x)
		x.Type("Fix it.")
		x.Keys("Enter")
		x.Await("Done ·")
	}},
	{name: "small-ask", sizes: []Size{{40, 12}, {20, 10}}, script: []reply{{Calls: []call{bash("go test ./... && rm -rf build")}}}, args: []string{"--mode", "ask"}, prepare: askBefore, drive: func(x *Terminal) {
		ready(x)
		x.Type("Fix it.")
		x.Keys("Enter")
		x.Focused("Allow once")
	}},
	{name: "small-list", sizes: []Size{{40, 12}, {20, 10}}, script: []reply{sumsUp}, drive: func(x *Terminal) { ready(x); x.Keys("C-p"); x.Await("new") }},
}

// story returns a long text without repetitions.
func story(paragraphs int) string {
	var b strings.Builder
	for i := range paragraphs {
		fmt.Fprintf(&b, "Chapter %d. Shelf %x holds %d things, and %d of them are sold.\n\n", i+1, i*7919+13, i*31+7, i*17+3)
	}
	return b.String() + "The end of it."
}
