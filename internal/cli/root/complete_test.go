package root

import (
	"bytes"
	"strings"
	"testing"
)

// TestCompletionTables checks that the commands and flags whose values are completed exist.
func TestCompletionTables(t *testing.T) {
	t.Parallel()
	paths, flags := map[string]bool{}, map[string]bool{}
	for _, cmd := range allCommands(Command()) {
		paths[strings.TrimPrefix(cmd.CommandPath(), "pawl ")] = true
		for name := range flagValues {
			flags[name] = flags[name] || cmd.Flags().Lookup(name) != nil
		}
	}
	for path := range argValues {
		if !paths[path] {
			t.Errorf("pawl %s does not exist", path)
		}
	}
	for name := range flagValues {
		if !flags[name] {
			t.Errorf("no command has the flag --%s", name)
		}
	}
}

// TestCompletion checks values that do not depend on the machine.
func TestCompletion(t *testing.T) {
	for _, name := range []string{"HOME", "PAWL_DATA", "XDG_CONFIG_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	t.Setenv("PAWL_CONFIG", "")
	for line, want := range map[string]string{
		"run --mode g":              "guard",
		"--mode=y":                  "yolo",
		"run --model sonn":          "sonnet",
		"--theme li":                "light",
		"run --tools read,gr":       "read,grep",
		"run --agent exp":           "explore",
		"agents prompt pl":          "plan",
		"extensions list s":         "skills",
		"auth login anth":           "anthropic",
		"models --provider ollam":   "ollama",
		"extensions list skills s":  "",
		"session show last x":       "",
		"session show x":            "",
		"mcp test x":                "",
		"resume x":                  "",
		"mission status x":          "",
		"skills show x":             "",
		"help exit":                 "exit-codes",
		"run --if-busy st":          "steer",
		"mission --worker-model ha": "haiku",
	} {
		t.Run(line, func(t *testing.T) {
			cmd := Command()
			var out, errs bytes.Buffer
			cmd.SetOut(&out)
			cmd.SetErr(&errs)
			cmd.SetArgs(append([]string{"__completeNoDesc"}, strings.Fields(line)...))
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
			got, _, _ := strings.Cut(out.String(), ":")
			if got = strings.TrimSpace(got); got != want {
				t.Errorf("%q, want %q\n%s", got, want, errs.String())
			}
		})
	}
}

// TestCompletionScripts checks that the script of every shell is generated.
func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		cmd := Command()
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetArgs([]string{"completion", shell})
		if err := cmd.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.String(), "__complete") {
			t.Errorf("%s: %v, %d bytes", shell, err, out.Len())
		}
	}
}
