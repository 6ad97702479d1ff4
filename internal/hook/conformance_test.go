package hook_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
)

// conformanceCases are what scripts written for Claude Code rely on, and what
// pawl adds: refusals where it could not be determined.
func conformanceCases() []conformanceCase {
	return slices.Concat(exitCases(), outputCases(), brokenCases(), changeCases(), matcherCases(), stopCases(), layerCases(), pointCases(), lineCases())
}

// exitCases: what the exit code means at each event.
func exitCases() []conformanceCase {
	const refuse = "echo no >&2; echo ignored; exit 2"
	return []conformanceCase{
		{name: "exit 0", on: "PreToolUse", script: "exit 0"},
		{name: "exit 2", on: "PreToolUse", script: refuse, want: block("no")},
		{name: "exit 2 by our name", on: "tool.execute.before", file: pawlFile, script: refuse, want: block("no")},
		{name: "exit 2 without a reason", on: "PreToolUse", script: "exit 2", want: block("gave no reason")},
		{name: "exit 2 with JSON that allows", on: "PreToolUse", script: allow("PreToolUse") + "\nexit 2", want: block("gave no reason")},
		{name: "exit 1", on: "PreToolUse", script: "echo oops >&2; exit 1", fault: "exit code 1 and was ignored: oops"},
		{name: "no such command", on: "PreToolUse", script: "/no/such/command", want: block("exit code 127"), fault: "exit code 127"},
		{name: "not executable", on: "PreToolUse", script: "/dev/null", want: block("exit code 126"), fault: "exit code 126"},
		{name: "no such command", on: "PostToolUse", script: "/no/such/command", fault: "exit code 127"},
		{name: "exit 2", on: "PostToolUse", script: refuse, want: hook.Outcome{Context: []string{"no"}}},
		{name: "exit 3", on: "PostToolUse", script: "exit 3", fault: "exit code 3"},
		{name: "exit 2", on: "UserPromptSubmit", script: refuse, want: hook.Outcome{Block: true, Reason: "no"}},
		{name: "exit 2", on: "Stop", script: refuse, want: goOn("no")},
		{name: "exit 2", on: "SubagentStop", script: refuse, want: goOn("no")},
		{name: "exit 2", on: "PermissionRequest", script: refuse, want: block("no")},
		{name: "exit 2", on: "SessionStart", script: refuse, want: hook.Outcome{Messages: []string{"no"}}},
		{name: "exit 2", on: "SessionEnd", script: refuse, want: hook.Outcome{Messages: []string{"no"}}},
		{name: "exit 2", on: "PreCompact", script: refuse, want: hook.Outcome{Messages: []string{"no"}}},
		{name: "exit 2", on: "PostCompact", script: refuse, want: hook.Outcome{Messages: []string{"no"}}},
		{name: "exit 2", on: "Notification", script: refuse, want: hook.Outcome{Messages: []string{"no"}}},
	}
}

// outputCases: each field of the JSON, and plain text.
func outputCases() []conformanceCase {
	return []conformanceCase{
		{name: "plain text", on: "PreToolUse", script: "echo fine"},
		{name: "plain text", on: "PostToolUse", script: "echo fine"},
		{name: "plain text", on: "UserPromptSubmit", script: "echo; echo branch main", want: hook.Outcome{Context: []string{"branch main"}}},
		{name: "plain text", on: "SessionStart", script: "echo branch main", want: hook.Outcome{Context: []string{"branch main"}}},
		{name: "text that does not show", on: "SessionStart", script: `printf 'a\342\200\256b'`, want: hook.Outcome{Context: []string{`a\u{202e}b`}}},
		{name: "additionalContext", on: "SessionStart", script: say(`{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"x"}}`), want: hook.Outcome{Context: []string{"x"}}},
		{name: "additionalContext", on: "UserPromptSubmit", script: say(`{"hookSpecificOutput":{"additionalContext":"x"}}`), want: hook.Outcome{Context: []string{"x"}}},
		{name: "additionalContext", on: "PostToolUse", script: say(`{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"x"}}`), want: hook.Outcome{Context: []string{"x"}}},
		{name: "additionalContext", on: "PreToolUse", script: say(`{"hookSpecificOutput":{"additionalContext":"x"}}`), want: hook.Outcome{Context: []string{"x"}}},
		{name: "continue false", on: "PreToolUse", script: say(`{"continue":false,"stopReason":"enough"}`), want: hook.Outcome{Stop: true, StopReason: "enough", Block: true, Reason: "enough", Decision: hook.Deny}},
		{name: "continue false", on: "PostToolUse", script: say(`{"continue":false,"stopReason":"enough"}`), want: hook.Outcome{Stop: true, StopReason: "enough"}},
		{name: "continue false wins over block", on: "Stop", script: say(`{"continue":false,"stopReason":"enough","decision":"block","reason":"more"}`), want: hook.Outcome{Stop: true, StopReason: "enough"}},
		{name: "continue true", on: "Stop", script: say(`{"continue":true,"suppressOutput":true}`)},
		{name: "systemMessage", on: "Notification", script: say(`{"systemMessage":"look"}`), want: hook.Outcome{Messages: []string{"look"}}},
		{name: "decision block", on: "PreToolUse", script: say(`{"decision":"block","reason":"old form"}`), want: block("old form")},
		{name: "decision approve", on: "PreToolUse", extra: `,"may_allow":true`, script: say(`{"decision":"approve"}`), want: hook.Outcome{Decision: hook.Allow}},
		{name: "decision block", on: "PostToolUse", script: say(`{"decision":"block","reason":"lint"}`), want: hook.Outcome{Context: []string{"lint"}}},
		{name: "decision block", on: "UserPromptSubmit", script: say(`{"decision":"block","reason":"secret"}`), want: hook.Outcome{Block: true, Reason: "secret"}},
		{name: "decision block", on: "Stop", script: say(`{"decision":"block","reason":"tests"}`), want: goOn("tests")},
		{name: "permissionDecision deny", on: "PreToolUse", script: decides("PreToolUse", "deny"), want: block("so")},
		{name: "permissionDecision ask", on: "PreToolUse", script: decides("PreToolUse", "ask"), want: hook.Outcome{Decision: hook.Ask, Messages: []string{"so"}}},
		{name: "permissionDecision allow where it may", on: "PreToolUse", extra: `,"may_allow":true`, script: allow("PreToolUse"), want: hook.Outcome{Decision: hook.Allow}},
		{name: "permissionDecision allow where it may not", on: "PreToolUse", script: allow("PreToolUse")},
		{name: "block and allow at once", on: "PreToolUse", extra: `,"may_allow":true`, script: say(`{"decision":"block","reason":"no","hookSpecificOutput":{"permissionDecision":"allow"}}`), want: block("no")},
		{name: "behavior deny", on: "PermissionRequest", script: say(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"never"}}}`), want: block("never")},
		{name: "behavior allow", on: "PermissionRequest", extra: `,"may_allow":true`, script: say(`{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}`), want: hook.Outcome{Decision: hook.Allow}},
		{name: "behavior allow where it may not", on: "PermissionRequest", script: say(`{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}`)},
		{name: "empty object", on: "PreToolUse", script: say(`{}`)},
		{name: "keys of others", on: "PreToolUse", script: say(`{"version":1,"hookSpecificOutput":{"hookEventName":"PreToolUse","more":true}}`)},
	}
}

// brokenCases: what cannot be understood refuses a call, and is reported elsewhere.
func brokenCases() []conformanceCase {
	return []conformanceCase{
		{name: "timeout", on: "PreToolUse", extra: `,"timeout":0.2`, script: "sleep 1000", want: block("timed out after 200ms"), fault: "raise its timeout"},
		{name: "timeout that may pass", on: "PreToolUse", extra: `,"timeout":0.2,"on_timeout":"allow"`, script: "sleep 1000", fault: "timed out after 200ms"},
		{name: "timeout", on: "Stop", extra: `,"timeout":0.2`, script: "sleep 1000", fault: "timed out after 200ms"},
		{name: "killed", on: "PreToolUse", script: "kill -9 $$", want: block("killed by a signal"), fault: "killed by a signal"},
		{name: "half an object", on: "PreToolUse", script: `printf '{"decision":"blo'`, want: block("invalid output"), fault: "invalid output"},
		{name: "half an object", on: "PostToolUse", script: `printf '{"decision":"blo'`, fault: "invalid output"},
		{name: "text before a decision", on: "PreToolUse", script: `echo hello; echo '{"decision":"block"}'`, want: block("print one JSON object"), fault: "invalid output"},
		{name: "two objects", on: "PreToolUse", script: `echo '{}'; echo '{}'`, want: block("invalid output"), fault: "invalid output"},
		{name: "a key twice", on: "PreToolUse", script: say(`{"decision":"block","decision":"approve"}`), want: block("duplicate key"), fault: "duplicate key"},
		{name: "wrong type", on: "PreToolUse", script: say(`{"continue":"no"}`), want: block("invalid output"), fault: "invalid output"},
		{name: "wrong type", on: "Stop", script: say(`{"decision":{"a":1}}`), fault: "invalid output"},
		{name: "unknown decision", on: "PreToolUse", script: decides("PreToolUse", "perhaps"), want: block(`"perhaps"`), fault: "use allow, ask, deny or block"},
		{name: "unknown decision", on: "UserPromptSubmit", script: say(`{"decision":"perhaps"}`), fault: "use allow, ask, deny or block"},
		{name: "answer for another event", on: "PreToolUse", script: allow("PostToolUse"), want: block("the output is for event"), fault: "the output is for event"},
		{name: "garbage", on: "PreToolUse", script: `printf '\377\376\001'`, fault: "not valid UTF-8"},
		{name: "garbage", on: "SessionStart", script: `printf 'a\377b'`, want: hook.Outcome{Context: []string{"a\ufffdb"}}, fault: "not valid UTF-8"},
		{name: "object that is not UTF-8", on: "PreToolUse", script: `printf '{"reason":"\377"}'`, want: block("not valid UTF-8"), fault: "not valid UTF-8"},
		{name: "too much text", on: "PreToolUse", script: `head -c 1000000 /dev/zero | tr '\0' a`, fault: "larger than 65536 bytes"},
		{name: "too much JSON", on: "PreToolUse", script: `printf '{"reason":"'; head -c 1000000 /dev/zero | tr '\0' a; printf '"}'`, want: block("larger than 65536 bytes"), fault: "larger than 65536 bytes"},
		{name: "too much context", on: "SessionStart", script: `head -c 40000 /dev/zero | tr '\0' a`, want: hook.Outcome{Context: []string{strings.Repeat("a", 32<<10)}}, fault: "was truncated"},
		{name: "stdin that is not read", on: "PreToolUse", script: "exec <&-; exit 0", event: tool("write", `{"path":"a","content":"`+strings.Repeat("x", 300000)+`"}`)},
	}
}

// changeCases: a changed input comes in our names, whatever the command's.
func changeCases() []conformanceCase {
	updated := func(input string) string {
		return say(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":` + input + `}}`)
	}
	// passBack returns what was reported, with another value of a field.
	passBack := func(field string) string {
		return `sed 's/.*"tool_input":\({[^}]*}\).*/\1/; s/"` + field + `":"y"/"` + field + `":"z"/; s/.*/{"hookSpecificOutput":{"updatedInput":&}}/'`
	}
	changed := func(input string) hook.Outcome { return hook.Outcome{Input: json.RawMessage(input)} }
	return []conformanceCase{
		{name: "updatedInput", on: "PreToolUse", script: updated(`{"command":"ls -l"}`), want: changed(`{"command":"ls -l"}`)},
		{name: "updatedInput in their names", on: "PreToolUse", event: tool("edit", `{"path":"a.go","old":"x","new":"y"}`), want: changed(`{"new":"z","old":"x","path":"a.go"}`),
			script: passBack("new_string")},
		{name: "updatedInput in our names", on: "tool.execute.before", file: pawlFile, event: tool("edit", `{"path":"a.go","old":"x","new":"y"}`), want: changed(`{"path":"a.go","old":"x","new":"z"}`),
			script: passBack("new")},
		{name: "updatedInput with both names", on: "PreToolUse", event: tool("write", `{"path":"a","content":""}`), script: updated(`{"path":"a","file_path":"b"}`), want: block("both path and file_path"), fault: "both"},
		{name: "updatedInput and allow", on: "PreToolUse", extra: `,"may_allow":true`, script: say(`{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"true"}}}`),
			want: hook.Outcome{Decision: hook.Allow, Input: json.RawMessage(`{"command":"true"}`)}},
		{name: "updatedInput that is a text", on: "PreToolUse", script: updated(`"ls"`), want: block("not a JSON object"), fault: "not a JSON object"},
		{name: "updatedInput of null", on: "PreToolUse", script: updated(`null`)},
		{name: "updatedInput too late", on: "PostToolUse", script: say(`{"hookSpecificOutput":{"updatedInput":{"command":"x"}}}`), fault: "not possible at tool.execute.after"},
	}
}

// matcherCases: a tool is meant by its own name and by those that others have.
func matcherCases() []conformanceCase {
	const no = "echo no >&2; exit 2"
	edit := tool("edit", `{"path":"a"}`)
	const twoFiles = `{"patch":"*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Add File: .env\n+K=1\n*** End Patch"}`
	const guard = `grep -q '"file_path":"[^"]*/.env"' || exit 0; echo no >&2; exit 2`
	return []conformanceCase{
		{name: "Bash is bash", on: "PreToolUse", matcher: "Bash", script: no, want: block("no")},
		{name: "bash is Bash", on: "tool.execute.before", file: pawlFile, matcher: "bash", script: no, want: block("no")},
		{name: "another tool", on: "PreToolUse", matcher: "Write", script: no, ran: -1},
		{name: "not by a part of the name", on: "PreToolUse", matcher: "Ba", script: no, ran: -1},
		{name: "a list", on: "PreToolUse", matcher: "Write|Edit", event: edit, script: no, want: block("no")},
		{name: "MultiEdit is edit", on: "PreToolUse", matcher: "MultiEdit", event: edit, script: no, want: block("no")},
		{name: "LS is list", on: "PreToolUse", matcher: "LS", event: tool("list", `{}`), script: no, want: block("no")},
		{name: "star", on: "PreToolUse", matcher: "*", script: no, want: block("no")},
		{name: "a pattern", on: "PreToolUse", matcher: "*Edit", event: edit, script: no, want: block("no")},
		{name: "a regular expression", on: "PreToolUse", matcher: "mcp__x__.*", event: tool("mcp__x__put", `{}`), script: no, want: block("no")},
		{name: "a regular expression for another", on: "PreToolUse", matcher: "mcp__x__.*", event: tool("mcp__y__put", `{}`), script: no, ran: -1},
		{name: "one that cannot be read", on: "PreToolUse", matcher: "Bash(rm", script: no, want: block("no"), fault: "runs for everything"},
		{name: "a source", on: "SessionStart", matcher: "resume", script: "echo x", ran: -1},
		{name: "a trigger", on: "PreCompact", matcher: "manual", script: no, want: hook.Outcome{Messages: []string{"no"}}},
		{name: "none where there is none", on: "UserPromptSubmit", matcher: "Bash", script: "echo x", want: hook.Outcome{Context: []string{"x"}}},
		{name: "a patch is edits and writes", on: "PreToolUse", matcher: "Edit|Write", event: tool("apply_patch", twoFiles), script: guard, want: block("no"), ran: 2},
		{name: "a patch without writes", on: "PreToolUse", matcher: "Write", event: tool("apply_patch", strings.ReplaceAll(twoFiles, "Add File", "Delete File")), script: guard, ran: -1},
		{name: "a patch as it is", on: "PreToolUse", matcher: "apply_patch", event: tool("apply_patch", twoFiles), script: `grep -q '"tool_name":"apply_patch"' || exit 2`},
		{name: "a patch that one file of is changed", on: "PreToolUse", event: tool("apply_patch", twoFiles), script: say(`{"hookSpecificOutput":{"updatedInput":{"file_path":"x"}}}`),
			want: block("only a hook with the matcher apply_patch"), fault: "apply_patch"},
		{name: "a patch with too many files", on: "PreToolUse", event: tool("apply_patch", `{"patch":"`+strings.Repeat(`*** Add File: a\n`, 51)+`"}`), script: "touch canary", want: block("more than 50 files"), fault: "more than 50 files", ran: -1},
	}
}

// stopCases: a turn can be kept going so often and no more.
func stopCases() []conformanceCase {
	blocked := func(n int) func(*hook.Event) { return func(e *hook.Event) { e.StopBlocks = n } }
	const more = "echo more >&2; exit 2"
	return []conformanceCase{
		{name: "blocked the 8th time", on: "Stop", event: blocked(hook.MaxStopBlocks - 1), script: more, want: goOn("more")},
		{name: "blocked the 9th time", on: "Stop", event: blocked(hook.MaxStopBlocks), script: more, fault: "8 times in a row"},
		{name: "blocked the 9th time by JSON", on: "SubagentStop", event: blocked(hook.MaxStopBlocks), script: say(`{"decision":"block","reason":"more"}`), fault: "8 times in a row"},
		{name: "is told that it goes on", on: "Stop", event: blocked(1), script: `grep -q '"stop_hook_active":true' || exit 2`},
	}
}

// layerCases: whose a command is decides on whether it runs, and what it may.
func layerCases() []conformanceCase {
	return []conformanceCase{
		{name: "the project's in an untrusted folder", on: "PreToolUse", layer: hook.LayerProject, closed: true, script: "touch canary", fault: "not trusted", ran: -1},
		{name: "the project's in an untrusted folder", on: "SessionStart", layer: hook.LayerProject, closed: true, script: "touch canary", fault: "not trusted", ran: -1},
		{name: "an unknown layer's in an untrusted folder", on: "PreToolUse", layer: "plugin", closed: true, script: "touch canary", fault: "not trusted", ran: -1},
		{name: "the user's in an untrusted folder", on: "PreToolUse", closed: true, script: "echo no >&2; exit 2", want: block("no")},
		{name: "the administrator's", on: "PreToolUse", layer: hook.LayerManaged, closed: true, extra: `,"may_allow":true`, script: allow("PreToolUse"), want: hook.Outcome{Decision: hook.Allow}},
		{name: "the project's that allows", on: "PreToolUse", layer: hook.LayerProject, extra: `,"may_allow":true`, script: allow("PreToolUse"), fault: "may_allow has no effect in a project"},
		{name: "the administrator's that denies", on: "PreToolUse", layer: hook.LayerManaged, closed: true, script: decides("PreToolUse", "deny"), want: block("so")},
		{name: "the administrator's at the start", on: "SessionStart", layer: hook.LayerManaged, closed: true, script: "echo x", want: hook.Outcome{Context: []string{"x"}}},
		{name: "the project's that denies", on: "PreToolUse", layer: hook.LayerProject, script: decides("PreToolUse", "deny"), want: block("so")},
		{name: "no keys in its environment", on: "PreToolUse", script: `env | grep -q HOOK_TEST_KEY && exit 2; [ "$CLAUDE_PROJECT_DIR" = "$PWD" ]`, event: func(e *hook.Event) { e.Access = []pawl.Access{} }},
	}
}

// pointCases: the events beside prompts and calls, and what a matcher is held
// against there.
func pointCases() []conformanceCase {
	const no = "echo no >&2; exit 2"
	notice := hook.Outcome{Messages: []string{"no"}}
	context := func(event string) string {
		return say(`{"hookSpecificOutput":{"hookEventName":"` + event + `","additionalContext":"x"}}`)
	}
	ended := hook.Outcome{Stop: true, StopReason: "enough"}
	const end = `{"continue":false,"stopReason":"enough"}`
	from := func(source string) func(*hook.Event) { return func(e *hook.Event) { e.Source = source } }
	return []conformanceCase{
		{name: "a reason", on: "SessionEnd", matcher: "logout|other", script: no, want: notice},
		{name: "another reason", on: "SessionEnd", matcher: "clear", script: no, ran: -1},
		{name: "the reason of a script's end", on: "SessionEnd", matcher: "other", event: func(e *hook.Event) { e.Reason = hook.EndOther }, script: no, want: notice},
		{name: "a kind", on: "Notification", matcher: "permission_prompt", event: from("permission_prompt"), script: no, want: notice},
		{name: "another kind", on: "Notification", matcher: "permission_prompt", event: from("idle_prompt"), script: no, ran: -1},
		{name: "an agent", on: "SubagentStop", matcher: "build", script: no, want: goOn("no")},
		{name: "another agent", on: "SubagentStop", matcher: "explore", script: no, ran: -1},
		{name: "a trigger", on: "PostCompact", matcher: "manual", script: no, want: notice},
		{name: "another trigger", on: "PostCompact", matcher: "auto", script: no, ran: -1},
		{name: "after a compaction", on: "SessionStart", matcher: "compact", event: from("compact"), script: "echo x", want: hook.Outcome{Context: []string{"x"}}},
		{name: "additionalContext", on: "PreCompact", script: context("PreCompact"), want: hook.Outcome{Context: []string{"x"}}},
		{name: "additionalContext", on: "PostCompact", script: context("PostCompact"), want: hook.Outcome{Context: []string{"x"}}},
		{name: "additionalContext that nobody would read", on: "SessionEnd", script: context("SessionEnd")},
		{name: "additionalContext that nobody would read", on: "Notification", script: context("Notification")},
		{name: "continue false", on: "SessionEnd", script: say(end), want: ended},
		{name: "continue false", on: "PostCompact", script: say(end), want: ended},
		{name: "timeout", on: "SessionEnd", extra: `,"timeout":0.2`, script: "sleep 1000", fault: "timed out after 200ms"},
		{name: "killed", on: "Notification", script: "kill -9 $$", fault: "killed by a signal"},
	}
}

// lineCases: nothing that the model says is put into a command's line.
func lineCases() []conformanceCase {
	const names = `${tool_input} $TOOL_INPUT {{tool_input}} ${prompt} $ARGUMENTS`
	const evil = `$(touch canary) ; touch canary ; "; touch canary; '`
	input, _ := json.Marshal(map[string]string{"command": evil})
	prompt := func(e *hook.Event) { e.Parts = pawl.Parts{pawl.Text{Text: evil}} }
	return []conformanceCase{
		{name: "a line with names", on: "PreToolUse", event: tool("bash", string(input)), script: "printf %s " + names + " >/dev/null"},
		{name: "a line with names in quotes", on: "PreToolUse", event: tool("bash", string(input)), script: `printf %s "` + names + `" >/dev/null`},
		{name: "a line with names", on: "UserPromptSubmit", event: prompt, script: "printf %s " + names + " >/dev/null"},
		{name: "the name of a tool", on: "PreToolUse", event: tool(evil, "{}"), script: "printf %s $TOOL_NAME ${tool_name} >/dev/null"},
	}
}
