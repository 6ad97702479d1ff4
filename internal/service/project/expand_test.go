package project_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/service/project"
)

var sorted = cmpopts.SortSlices(func(a, b string) bool { return a < b })

func says(texts ...string) pawl.Prompt {
	var p pawl.Prompt
	for _, text := range texts {
		p.Parts = append(p.Parts, pawl.Text{Text: text})
	}
	return p
}

// stub are servers that know one prompt and one document.
type stub struct{}

var _ project.Servers = stub{}

func (stub) Status(context.Context, string) ([]pawl.ServerInfo, []string) {
	return []pawl.ServerInfo{{Name: "docs", State: "ready", Tools: 2, Origin: "user"}}, []string{"MCP servers: odd\x1b"}
}

func (stub) Commands(string) []pawl.CommandInfo {
	return []pawl.CommandInfo{{Name: "mcp__docs__ask", Origin: "MCP server docs"}}
}

func (stub) Prompt(_ context.Context, _, name, args string, p *pawl.Prompt) (bool, error) {
	if name == "mcp__docs__broken" {
		return true, fmt.Errorf("it is broken: %w", pawl.ErrUnavailable)
	}
	p.Parts[0] = pawl.Text{Text: "asked " + args}
	return name == "mcp__docs__ask", nil
}

func (stub) Attach(_ context.Context, _, words string, p *pawl.Prompt) []string {
	if !strings.Contains(words, "@docs:a") {
		return nil
	}
	p.Parts = append(p.Parts, pawl.Text{Text: "the document a"})
	return []string{"@docs:b was not read"}
}

func TestExpand(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t, func(c *project.Config) { c.Servers = stub{} })
	w.put(w.dir, brought)
	w.put(w.dir, map[string]string{
		"a.txt": "text a\n", "my file.md": "words", "sub/b.go": "package b", ".env": "KEY=s3cret", "link": "->a.txt", "pic.png": "\x89PNG\x00",
		"large.txt": strings.Repeat("x", 70_000), "fenced.md": "```\nx\n```",
		".pawl/agents/painter.md": "---\nmodel: anthropic/x\nmode: all\n---\nYou paint.",
	})
	w.put(w.home, map[string]string{
		".pawl/commands/mine.md":  "---\nagent: plan\nmodel: openai/x\n---\nDo $ARGUMENTS with @a.txt and @.env",
		".pawl/agents/mine.md":    "---\nmodel: openai/y\nmode: all\n---\nYou are mine.",
		".pawl/commands/plain.md": "As it is.",
	})
	quoted := func(name, text string) string { return "The file " + name + ":\n```\n" + text + "\n```" }
	file := func(name, text string) pawl.Part {
		return pawl.File{Name: name, MediaType: "text/plain", Data: []byte(text)}
	}
	add := func(p pawl.Prompt, parts ...pawl.Part) pawl.Prompt { p.Parts = append(p.Parts, parts...); return p }
	with := func(p pawl.Prompt, s pawl.Settings) pawl.Prompt { p.Settings = s; return p }
	for name, test := range map[string]struct {
		prompt pawl.Prompt
		want   pawl.Prompt
		notes  []string
	}{
		"words":                      {says("hello"), says("hello"), nil},
		"nothing":                    {says(), says(), nil},
		"a file":                     {says("see @a.txt."), add(says("see @a.txt."), file("a.txt", "text a\n")), nil},
		"a file in a folder, twice":  {says("(@sub/b.go) [@./sub/b.go]"), add(says("(@sub/b.go) [@./sub/b.go]"), file("sub/b.go", "package b")), nil},
		"a file with blanks":         {says(`see @"my file.md"`), add(says(`see @"my file.md"`), file("my file.md", "words")), nil},
		"lines of a file":            {says("@a.txt:3-4 and @sub/b.go:1"), add(says("@a.txt:3-4 and @sub/b.go:1"), file("a.txt", "text a\n"), file("sub/b.go", "package b")), nil},
		"a file with a fence":        {says("@fenced.md"), add(says("@fenced.md"), file("fenced.md", "```\nx\n```")), nil},
		"a file that is attached":    {add(says("see @a.txt"), file("a.txt", "old")), add(says("see @a.txt"), file("a.txt", "text a\n")), nil},
		"no file":                    {says("@dataclass, me@a.txt, @sub @ @."), says("@dataclass, me@a.txt, @sub @ @."), nil},
		"not without asking":         {says("@.env"), says("@.env"), []string{"@.env was not attached: reading it requires permission"}},
		"outside":                    {says("@/etc/passwd @../x @~/x"), says("@/etc/passwd @../x @~/x"), []string{"@/etc/passwd was not attached: it is outside the workspace", "@../x was not attached: it is outside the workspace", "@~/x was not attached: it is outside the workspace"}},
		"no text":                    {says("@pic.png"), says("@pic.png"), []string{"@pic.png was not attached: it is not a text file"}},
		"too large":                  {says("@large.txt"), says("@large.txt"), []string{"@large.txt was not attached: it is larger than 65536 bytes"}},
		"only of the first part":     {says("hello", "@a.txt", "/mine"), says("hello", "@a.txt", "/mine"), nil},
		"a command":                  {says("/plain", "@a.txt"), says("As it is.", "@a.txt"), nil},
		"a command with all":         {says("/mine @sub/b.go\nnow"), with(says("Do @sub/b.go\nnow with @a.txt and @.env\n\n"+quoted("a.txt", "text a")), pawl.Settings{Agent: "plan", Model: "openai/x"}), []string{"/mine: file .env was not attached: reading it requires permission"}},
		"a command and a choice":     {with(says("/mine"), pawl.Settings{Agent: "build", Model: "m"}), with(says("Do  with @a.txt and @.env\n\n"+quoted("a.txt", "text a")), pawl.Settings{Agent: "build", Model: "m"}), []string{"/mine: file .env was not attached: reading it requires permission"}},
		"a path":                     {says("/tmp is full"), says("/tmp is full"), nil},
		"a blank before it":          {says(" /mine"), says(" /mine"), nil},
		"an agent's model":           {with(says("x"), pawl.Settings{Agent: "mine"}), with(says("x"), pawl.Settings{Agent: "mine", Model: "openai/y"}), nil},
		"an agent and no words":      {with(says(), pawl.Settings{Agent: "mine"}), with(says(), pawl.Settings{Agent: "mine", Model: "openai/y"}), nil},
		"an agent and a model":       {with(says("x"), pawl.Settings{Agent: "mine", Model: "m"}), with(says("x"), pawl.Settings{Agent: "mine", Model: "m"}), nil},
		"a stranger's agent":         {with(says("x"), pawl.Settings{Agent: "painter"}), with(says("x"), pawl.Settings{Agent: "painter"}), nil},
		"a server's prompt":          {says("/mcp__docs__ask why"), says("asked why"), nil},
		"a server's document":        {says("see @docs:a"), says("see @docs:a", "the document a"), []string{"@docs:b was not read"}},
		"a document, and a file too": {says("@a.txt @docs:a"), add(says("@a.txt @docs:a", "the document a"), file("a.txt", "text a\n")), []string{"@docs:b was not read"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes, err := w.Expand(t.Context(), w.dir, test.prompt)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("prompt (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.notes, notes, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
	f := w.look()
	if diff := cmp.Diff([]pawl.ServerInfo{{Name: "docs", State: "ready", Tools: 2, Origin: "user"}}, f.Servers); diff != "" {
		t.Error(diff)
	}
	if last := f.Commands[len(f.Commands)-1]; last.Name != "mcp__docs__ask" || f.Notes[len(f.Notes)-1] != `MCP servers: odd\u{1b}` {
		t.Errorf("commands %v, notes %q", f.Commands, f.Notes)
	}
}

func TestExpandRefuses(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t, func(c *project.Config) { c.Servers = stub{} })
	w.put(w.dir, brought)
	for _, test := range []struct{ words, want string }{
		{"/fix 7", `unknown command "/fix". To start a prompt with a slash, put a space before it.`},
		{"/mcp__docs__broken", "it is broken: unavailable"},
	} {
		p := says(test.words)
		if _, _, err := w.Expand(t.Context(), w.dir, p); err == nil || fault.Text(err) != test.want {
			t.Errorf("%s: %v", test.words, err)
		}
		if diff := cmp.Diff(says(test.words), p); diff != "" {
			t.Errorf("what was given has changed: %s", diff)
		}
	}
	w.trust()
	for words, want := range map[string]string{
		"/fixx":  `unknown command "/fixx". Did you mean "/fix"?`,
		"/other": "unknown command \"/other\". Run `pawl extensions list commands` to see all commands.",
	} {
		if _, _, err := w.Expand(t.Context(), w.dir, says(words)); err == nil || fault.Text(err) != want {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// heard keeps the directories that servers were asked of.
type heard struct {
	stub
	dirs []string
}

func (h *heard) Status(ctx context.Context, dir string) ([]pawl.ServerInfo, []string) {
	h.dirs = append(h.dirs, dir)
	return h.stub.Status(ctx, dir)
}

func (h *heard) Attach(ctx context.Context, dir, words string, p *pawl.Prompt) []string {
	h.dirs = append(h.dirs, dir)
	return h.stub.Attach(ctx, dir, words, p)
}

// Servers are those of the session's directory, as it is spelled there: a second
// spelling would start them twice.
func TestServersOfALink(t *testing.T) { //nolint:paralleltest // it sets environment variables
	var servers heard
	w := newEnv(t, func(c *project.Config) { c.Servers = &servers })
	w.put(w.home, map[string]string{"link": "->" + w.dir})
	link := filepath.Join(w.home, "link")
	if f, err := w.Look(t.Context(), link); err != nil || f.Dir != w.dir {
		t.Errorf("%q, %v", f.Dir, err)
	}
	if _, _, err := w.Expand(t.Context(), link, says("x")); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{link, link}, servers.dirs); diff != "" {
		t.Error(diff)
	}
}

// TestExpandTrusted checks that commands of a project are expanded if the project or the prompt is trusted.
func TestExpandTrusted(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for name, byPrompt := range map[string]bool{"told": true, "trusted": false} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.put(w.dir, brought)
			p := says("/fix 7")
			if p.Trusted = byPrompt; !byPrompt {
				w.trust()
			}
			got, _, err := w.Expand(t.Context(), w.dir, p)
			if err != nil || got.Parts[0] != pawl.Part(pawl.Text{Text: "Fix 7."}) {
				t.Errorf("%v, %v", got.Parts, err)
			}
		})
	}
}

// Twenty files are attached, and no more.
func TestManyMentions(t *testing.T) { //nolint:paralleltest // it sets environment variables
	w := newEnv(t)
	var words []string
	for i := range 30 {
		name := fmt.Sprintf("f%d", i)
		w.put(w.dir, map[string]string{name: "x"})
		words = append(words, "@"+name)
	}
	got, notes, err := w.Expand(t.Context(), w.dir, says(strings.Join(words, " ")))
	if err != nil || len(got.Parts) != 21 {
		t.Errorf("%d parts, %v", len(got.Parts), err)
	}
	if diff := cmp.Diff([]string{"@f20 and later files were not attached: 20 files is the limit"}, notes); diff != "" {
		t.Error(diff)
	}
}

// leaks reports whether a file that needs asking gets into a prompt.
func leaks(t *testing.T, words string) bool {
	t.Helper()
	w := newEnv(t)
	w.put(w.dir, map[string]string{".env": "KEY=s3cret"})
	w.put(w.home, map[string]string{".pawl/commands/c.md": "See @.env"})
	got, _, err := w.Expand(t.Context(), w.dir, says(words))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(fmt.Sprintf("%s", got.Parts), "s3cret")
}

func TestReadable(t *testing.T) { //nolint:paralleltest // it sets environment variables
	for _, words := range []string{"@.env", "@./.env", `@".env"`, "/c"} {
		if leaks(t, words) {
			t.Errorf("%s: what needs asking is in the prompt", words)
		}
	}
}
