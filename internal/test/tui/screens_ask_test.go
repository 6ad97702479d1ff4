//go:build e2e

package tui

// askScreens are dialogs.
var askScreens = []screen{
	{
		name: "permission-command", picture: true, looks: "dark", args: []string{"--mode", "ask"}, prepare: askBefore,
		script: []reply{{Text: "I run the tests.", Calls: []call{bash("go test ./... && rm -rf build")}}},
		drive:  func(x *Terminal) { ask(x); x.Focused("Allow once") },
	},
	{
		name: "permission-changes", picture: true, looks: "dark", args: []string{"--mode", "ask"},
		script: []reply{{Text: "I rename the package.", Calls: []call{bash("sed -i 's/package cart/package basket/' cart/*.go && mv web/page.html web/index.html")}}},
		drive:  func(x *Terminal) { ask(x); x.Focused("The command changed 4 files") },
	},
	{
		name: "permission-edit", looks: "dark", args: []string{"--mode", "ask"},
		script: []reply{{Calls: looks.Calls[:1]}, changes},
		drive:  func(x *Terminal) { ask(x); x.Focused("Edit cart.go") },
	},
	{
		name: "question", picture: true, args: []string{"--mode", "guard"},
		script: []reply{{Calls: []call{{"question", object{"questions": []object{{
			"header": "Rounding", "question": "How are fractions of a cent rounded?",
			"options": []object{{"label": "Up", "description": "in favor of the shop"}, {"label": "Down", "description": "in favor of the customer"}, {"label": "To even", "description": "as banks do"}},
		}}}}}}},
		drive: func(x *Terminal) { ask(x); x.Focused("To even") },
	},
	{
		name: "plan", picture: true, args: []string{"--mode", "plan"},
		script: []reply{{Text: "I have a plan.", Calls: []call{{"plan_exit", object{"plan": "# Fix the total\n\n1. Multiply by the count in `cart/cart.go`\n2. Add a test with two items\n3. Run all tests\n"}}}}},
		drive:  func(x *Terminal) { ask(x); x.Await("Run all tests", "enter choose") },
	},
	{
		name: "trust", picture: true, looks: "dark",
		script: []reply{sumsUp},
		prepare: func(w *Env) {
			w.Write("AGENTS.md", "Always run the tests.\n")
			w.Write(".mcp.json", `{"mcpServers":{"tickets":{"command":"npx","args":["-y","tickets-mcp"]}}}`)
			w.Write(".claude/settings.json", `{"hooks":{"PostToolUse":[{"matcher":"Edit","hooks":[{"type":"command","command":"make fmt"}]}]}}`)
		},
		drive: func(x *Terminal) { x.Focused(".mcp.json") },
	},
	{
		name: "first-run-no-key", prepare: func(w *Env) { w.Config, w.Env = map[string]any{"tui": w.Config["tui"]}, nil },
		drive: func(x *Terminal) { x.Await("Welcome to Pawl", "Demo") },
	},
	{
		name: "first-run", picture: true, script: []reply{sumsUp}, prepare: func(w *Env) { delete(w.Config, "model") },
		drive: func(x *Terminal) { x.Await("Welcome to Pawl", "Demo") },
	},
}
