//go:build sectest

package security

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/permission"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

var rowsB = []row{
	{id: "B1", title: "Claude Code: crafted echo escapes quoting", attack: echoes, defense: "shell.split,sandbox.root,sandbox.masks"},
	{id: "B2", title: "Claude Code: $IFS and short-flag parsing", attack: unaskedPart(blanks), defense: "shell.doubts,shell.options"},
	{id: "B3", title: "Claude Code: rg flags run programs", attack: unaskedPart(ripgrep), defense: "shell.options,shell.assign"},
	{id: "B4", title: "Claude Code: find -exec etc.", attack: unaskedPart(finds), defense: "shell.options"},
	{id: "B5", title: "Claude Code: sed w/e/-i, echo|sed write", attack: unaskedPart(seds), defense: "shell.options"},
	{id: "B6", title: "Claude Code: awk system()/redirect classed as read", attack: unaskedPart(awks), defense: "shell.options"},
	{id: "B7", title: "Claude Code: zsh >!/>>! clobber hides redirect", attack: unaskedPart(clobbers), defense: "shell.split"},
	{id: "B8", title: "Claude Code: hidden command in zsh conditionals", attack: unaskedPart(conditionals), defense: "shell.doubts,shell.options"},
	{id: "B9", title: "Copilot CLI: ${v@P}, ${v:=…}, ${!v}, nested $() in ${}", attack: unaskedPart(expansions), defense: "shell.doubts"},
	{id: "B10", title: "Mistral Vibe: single-quoted payload + ${v@P} defeats tree-sitter", attack: unaskedPart(disagreements), defense: "shell.doubts,shell.assign,shell.misread"},
	{id: "B11", title: "Roo Code: $(echo cmd) in command position", attack: unaskedPart(positions), defense: "shell.doubts,shell.options"},
	{id: "B12", title: "Continue, Claude: prefix rule matches chained ; && |", attack: unaskedPart(chains, deniedChains), defense: "shell.split"},
	{id: "B13", title: "Claude Code: line continuation, backslash-escaped flag, heredoc, comment first line hides rest in UI", attack: wholeCommand, defense: "shell.split,show.whole"},
	{id: "B14", title: "Cursor: builtins export/typeset poison env of allowed commands (PAGER, GIT_*, PYTHONWARNINGS…)", attack: poisonedEnv, defense: "shell.doubts,shell.assign"},
	{id: "B15", title: "Claude Code: bare variable assignment to non-listed env auto-approved", attack: unaskedPart(assignments), defense: "shell.assign"},
	{id: "B16", title: "Codex: git -c, --config-env, --exec-path, --git-dir, --work-tree, -C, --output, --ext-diff, --textconv, branch -d, +refspec", attack: gitRuns, defense: "shell.options"},
	{id: "B17", title: "mcp-shell (Go): git -c alias.x=!cmd", attack: unaskedPart(gitAliases, deniedAliases), defense: "shell.options,shell.unwrap"},
	{id: "B18", title: "GitPython, simple-git: long-option abbreviation (--upload-p) bypasses denylist", attack: unaskedPart(abbreviations, deniedAbbreviations), defense: "shell.abbrev"},
	{id: "B19", title: "OpenClaw, Claude: deny rules evaded by env/sudo/timeout/nice/watch/setsid wrappers", attack: unaskedPart(wrapped, respelled), defense: "shell.unwrap,shell.alike"},
	{id: "B20", title: "Claude Code: catastrophic rm hidden in substitution or alias path", attack: catastrophes, defense: "shell.gate"},
	{id: "B21", title: "Codex Win, Kimi: mis-quoted rmdir hits drive root; rm -rf on pre-existing dir", attack: deletesOutside, defense: "shell.gate"},
	{id: "B22", title: "OpenClaude/Claude: model sets dangerouslyDisableSandbox itself", attack: disablesSandbox, defense: "shell.escape"},
	{id: "B23", title: "Claude Code: cd .claude && write evades path check", attack: changesDir, defense: "shell.dir,sandbox.protected"},
	{id: "B24", title: "Claude Code: cd.. functions, -OutVariable into $PSDefaultParameterValues, trailing &", elsewhere: "PowerShell: Windows only"},
}

// lines are command lines, and the user's rules that they try to get past.
type lines struct {
	mode  permission.Mode // "" means ask
	allow []string        // what the rules allow
	deny  []string        // what they deny
	fine  []string        // lines that run: the rules are no dead letters
	bad   []string        // lines that must not run unasked
	real  []string        // such lines that are played on the program; each would touch canary in the workspace
}

// rules are the user's.
func (l lines) rules() []permission.Rule {
	var rules []permission.Rule
	for _, p := range l.allow {
		rules = append(rules, permission.Rule{Tool: "bash", Pattern: p, Decision: permission.Allow, Origin: permission.OriginUser})
	}
	for _, p := range l.deny {
		rules = append(rules, permission.Rule{Tool: "bash", Pattern: p, Decision: permission.Deny, Origin: permission.OriginUser})
	}
	return rules
}

// unaskedPart is an attack by lines alone.
func unaskedPart(parts ...lines) func(a *attackEnv) {
	return func(a *attackEnv) {
		for _, l := range parts {
			a.unasked(l)
		}
	}
}

// unasked reports each line that runs without a question. With the row's
// defenses taken out, every one must: a line that fails all the same shows nothing.
func (a *attackEnv) unasked(l lines) {
	a.Helper()
	p := permission.Policy{Mode: l.mode, Rules: l.rules(), Dir: "/work/project", Home: "/home/me"}
	if p.Mode == "" {
		p.Mode = permission.ModeAsk
	}
	p.Sandboxed = p.Mode != permission.ModeYolo
	for _, r := range p.Rules {
		if err := r.Check(); err != nil {
			a.Fatalf("%s: %v", r, err)
		}
	}
	for _, line := range slices.Concat(l.bad, l.real) {
		switch v := permission.Decide(p, bashCall(line)); {
		case v.Decision == permission.Allow:
			a.breach("%q runs unasked: %s", line, v.Why)
		case a.without != "":
			a.Errorf("%q fails all the same: %s", line, v.Why)
		}
	}
	for _, line := range l.fine {
		if v := permission.Decide(p, bashCall(line)); v.Decision != permission.Allow && a.without == "" {
			a.Errorf("%q does not run, so the rules show nothing: %s", line, v.Why)
		}
	}
	a.refused(string(p.Mode), l)
}

// bashCall is a call of bash as permissions know it.
func bashCall(line string) permission.Call {
	return permission.Call{Tool: "bash", Risk: toolapi.RiskDangerous, Access: []pawl.Access{{Kind: pawl.AccessExec, Target: line}}}
}

// refused plays the real lines on the program, where nobody can be asked.
func (a *attackEnv) refused(mode string, l lines) {
	a.Helper()
	if len(l.real) == 0 {
		return
	}
	rules, err := json.Marshal(map[string]any{"permissions": map[string]any{"rules": l.rules()}})
	if err != nil {
		a.Fatal(err)
	}
	a.write(filepath.Join(a.home, ".config/pawl/pawl.json"), string(rules))
	a.write("evil.sh", "#!/bin/sh\ntouch canary\n")
	a.write("foo.txt", "foo\n")
	for _, line := range l.real {
		o := a.play(mode, bash(line))
		if o.status(1) != pawl.CallDenied && !o.discarded(1) {
			a.breach("the program has run %q: %s", line, o.result(1))
		}
		switch made := a.exists("canary"); {
		case made:
			a.breach("%q has made the canary", line)
		case a.without != "":
			a.Errorf("%q makes no canary all the same: %s", line, o.result(1))
		}
		if err := os.RemoveAll(filepath.Join(a.dir, "canary")); err != nil {
			a.Fatal(err)
		}
	}
}

// contained plays lines that nobody stops: the sandbox must.
func (a *attackEnv) contained(commands ...string) {
	a.Helper()
	for _, line := range commands {
		if o := a.play("guard", bash(line)); o.status(1) == pawl.CallDenied || o.status(1) == pawl.CallRefused {
			a.Fatalf("%q did not run, so it shows nothing: %s", line, o.result(1))
		}
	}
	a.canaries()
}

// echoes: a program that prints is allowed; its quotes end where a naive reader
// does not see it. Should one get through, the sandbox holds.
func echoes(a *attackEnv) {
	a.unasked(echoLines)
	a.contained(
		`echo "$(touch `+a.canary("one")+`)"`,
		`echo "\\"; touch `+a.canary("two")+`; echo "\\"`,
		`echo x > `+a.canary("three"),
	)
}

// gitRuns: options of git's run programs and write files.
func gitRuns(a *attackEnv) {
	a.git(a.dir, "init", "-q")
	a.write("a.txt", "a\n")
	a.git(a.dir, "add", "a.txt")
	a.git(a.dir, "commit", "-qm", "a")
	a.unasked(gitOptions)
}

// wholeCommand: what a person decides by has each line of the command.
func wholeCommand(a *attackEnv) {
	a.unasked(hiddenLines)
	p := permission.Policy{Mode: permission.ModeAsk, Sandboxed: true, Dir: "/work/project", Home: "/home/me"}
	for _, command := range hiddenLines.bad {
		c := bashCall(command)
		text := permission.Show(c, permission.Decide(p, c))
		for line := range strings.SplitSeq(command, "\n") {
			if shown := "  | " + strings.ReplaceAll(line, "\t", `\t`) + "\n"; !strings.Contains(text, shown) {
				a.breach("of %q a person is not shown %q", command, line)
			}
		}
	}
	long := "# list the files\n" + strings.Repeat("# and nothing else\n", 200) + "ls" + strings.Repeat(" ", 5000) + "; touch canary"
	if o := a.pawl("permissions", "test", "--mode", "ask", long); !strings.Contains(o.Stdout, "; touch canary\n") {
		a.breach("the end of a long command is not shown: %s", o.Stderr)
	}
}

// poisonedEnv: builtins set what allowed programs go by. What one call sets, the
// next does not know.
func poisonedEnv(a *attackEnv) {
	a.unasked(builtins)
	o := a.play("guard",
		bash(`export BASH_ENV=$PWD/evil.sh PAGER=./evil.sh PS1=x; alias ls=./evil.sh; git() { ./evil.sh; }; export -f git; echo set $BASH_ENV`),
		bash(`echo "BASH_ENV=$BASH_ENV PAGER=$PAGER $(type -t ls git | tr '\n' ' ')"`),
	)
	if !strings.Contains(o.result(1), "evil.sh") {
		a.Fatalf("nothing was set: %s", o.result(1))
	}
	if !strings.HasPrefix(o.result(2), "BASH_ENV= PAGER= file file") || a.exists("canary") {
		a.breach("the next command knows what the one before has set: %s", o.result(2))
	}
}
