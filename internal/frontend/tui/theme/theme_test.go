package theme

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl"
)

var update = flag.Bool("update", false, "write the golden files anew")

func folder(files map[string]string) fs.FS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// TestRead: a theme of one has the colors of its base where it names none.
func TestRead(t *testing.T) {
	t.Parallel()
	dark, _ := Find(NameDark, nil)
	light, _ := Find(NameLight, nil)
	sea := dark.Colors
	sea.Accent = "#00aaff"
	calm := light.Colors
	calm.Bad, calm.Text = "5", terminalColor
	deep := sea
	deep.User = "#123456"
	got, err := Read(folder(map[string]string{
		"sea.json":  `{"colors":{"accent":"#00aaff"}}`,
		"calm.json": `{"$schema":"x","base":"light","colors":{"bad":"5","text":"default"}}`,
		"deep.json": `{"base":"sea","colors":{"user":"#123456"}}`,
		"README.md": "no theme", "old/x.json": "no theme",
	}))
	want := []Theme{{Name: "calm", Colors: calm, Background: Light}, {Name: "deep", Colors: deep, Background: Dark}, {Name: "sea", Colors: sea, Background: Dark}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if got, err := Read(os.DirFS(filepath.Join(t.TempDir(), "none"))); got != nil || err != nil {
		t.Errorf("without a folder: %v, %v", got, err)
	}
}

// TestReadRefuses: what is wrong names the file, and what to do.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, text string
		says             []string
	}{
		{"no JSON", "a.json", `x`, []string{"invalid"}},
		{"an unknown key", "a.json", `{"colorz":{}}`, []string{"colorz", "text, muted"}},
		{"an unknown color", "a.json", `{"colors":{"txt":"#000000"}}`, []string{"txt", "text, muted"}},
		{"another case", "a.json", `{"colors":{"Text":"#000000"}}`, []string{"Text"}},
		{"a key twice", "a.json", `{"colors":{"text":"1","text":"2"}}`, []string{"text"}},
		{"no color", "a.json", `{"colors":{"text":"red"}}`, []string{`invalid color "red" in colors.text`, "#rrggbb"}},
		{"a short color", "a.json", `{"colors":{"text":"#fff"}}`, []string{"#rrggbb"}},
		{"a number too many", "a.json", `{"colors":{"text":"256"}}`, []string{"0 to 255"}},
		{"a sequence", "a.json", `{"colors":{"text":"1\u001b[2J"}}`, []string{"#rrggbb"}},
		{"another type", "a.json", `{"colors":{"text":1}}`, []string{"text"}},
		{"a base that is not there", "a.json", `{"base":"drak"}`, []string{`"drak"`, "did you mean dark"}},
		{"based on itself", "a.json", `{"base":"a"}`, []string{"a on a"}},
		{"a name that is taken", "dark.json", `{}`, []string{"dark", "rename"}},
		{"the name of none", "auto.json", `{}`, []string{"rename"}},
		{"an odd name", "A b.json", `{}`, []string{"lower-case letters"}},
		{"much too long", "a.json", `{"base":"` + strings.Repeat("x", maxBytes) + `"}`, []string{"bytes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(folder(map[string]string{c.file: c.text}))
			if !errors.Is(err, pawl.ErrInvalid) {
				t.Fatalf("got %v", err)
			}
			for _, want := range append(c.says, c.file) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("it does not say %q: %v", want, err)
				}
			}
		})
	}
	_, err := Read(folder(map[string]string{"a.json": `{"base":"b"}`, "b.json": `{"base":"a"}`}))
	if err == nil || !strings.Contains(err.Error(), "a on b on a") {
		t.Errorf("two that are based on each other: %v", err)
	}
}

const schemaFile = "../../../../docs/schema/theme.schema.json"

// schema is that of a theme's file, made from its type.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.For[File](nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.ID = "https://raw.githubusercontent.com/pawl-dev/pawl/main/docs/schema/theme.schema.json"
	s.Title, s.Description = "Pawl theme", "A custom theme: NAME.json in the directory themes next to pawl.json."
	s.Properties["$schema"].Description = "The URL of this schema, for editors."
	s.Properties["base"].Description = "The theme that supplies the colors that are not set: a built-in theme or another custom one. Default: dark."
	s.Properties["colors"].Description = "Colors by purpose: #rrggbb, a number from 0 to 255 of the terminal's palette, or default for the terminal's own color."
	for _, c := range s.Properties["colors"].Properties {
		c.Pattern = `^(#[0-9a-fA-F]{6}|[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5]|default)$`
	}
	return s
}

// TestSchemaIsPublished: the copy for editors is that of this program, and accepts
// what this program reads.
func TestSchemaIsPublished(t *testing.T) {
	t.Parallel()
	s := schema(t)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, b.Bytes(), 0o644); err != nil { //nolint:gosec // it is published
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if diff := cmp.Diff(string(want), b.String()); diff != "" || err != nil {
		t.Errorf("'go test ./internal/frontend/tui/theme -update' writes it anew: %v %s", err, diff)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{
		`{}`: true, `{"base":"light","colors":{"bad":"5","text":"default","screen":"#0a0B0c"}}`: true,
		`{"colors":{"bad":"red"}}`: false, `{"colors":{"bat":"5"}}`: false, `{"colors":{"bad":"256"}}`: false, `{"name":"x"}`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		_, err := Read(folder(map[string]string{"a.json": text}))
		if (r.Validate(v) == nil) != good || (err == nil) != good {
			t.Errorf("%s: the schema says %v, pawl says %v", text, r.Validate(v), err)
		}
	}
}

// TestSigns: every sign that the source of the screen draws has one in ASCII, of
// one cell as itself.
func TestSigns(t *testing.T) {
	t.Parallel()
	for r := range asciiSymbols {
		if ansi.StringWidth(string(r)) != 1 {
			t.Errorf("%c does not take one cell", r)
		}
	}
	seen := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "ascii.go" {
			return err
		}
		seen++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			for _, r := range text {
				if _, ok := asciiSymbols[r]; r >= utf8.RuneSelf && r != utf8.RuneError && !ok {
					t.Errorf("%s: %c (%U) has no sign in ASCII: add one to signs in theme/ascii.go", fset.Position(lit.Pos()), r, r)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || seen < 20 {
		t.Fatal(err, seen)
	}
}

func TestASCII(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"as it is", "plain text\nof two lines", "plain text\nof two lines"},
		{"a frame", "╭─ title ─╮\n│ x │\n╰───╯", "+- title -+\n| x |\n+---+"},
		{"colors stay", "\x1b[1;38;2;1;2;3m● done\x1b[m · 3 s", "\x1b[1;38;2;1;2;3m* done\x1b[m - 3 s"},
		{"letters of others", "größe", "gr??e"},
		{"wide ones", "日本x", "????x"},
		{"marks above a letter", "e\u0301a", "ea"},
		{"emoji that are joined", "👩‍💻!", "??!"},
	} {
		if got := ASCII(c.in); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestASCIIKeepsWidths: whatever is drawn, it is ASCII then, and as wide.
func TestASCIIKeepsWidths(t *testing.T) {
	t.Parallel()
	pieces := []string{"a", "─", "日", "👩‍💻", "e\u0301", "\x1b[31m", "\x1b[m", " ", "ü", "\u0600", "❤️", "क्ष", "\n", "\x1b]8;;http://x/é\x1b\\"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"), "")
		got := ASCII(text)
		before, after := strings.Split(text, "\n"), strings.Split(got, "\n")
		if len(before) != len(after) {
			t.Fatalf("%d lines of %d", len(after), len(before))
		}
		for i := range before {
			if a, b := ansi.StringWidth(before[i]), ansi.StringWidth(after[i]); a != b {
				t.Errorf("%q is %d wide, and %q %d", before[i], a, after[i], b)
			}
		}
		for _, r := range ansi.Strip(got) {
			if r >= utf8.RuneSelf {
				t.Errorf("%q has %c", got, r)
			}
		}
	})
}

// TestScreenOn: a theme brings its background where the terminal's is of the
// other kind, and nowhere else.
func TestScreenOn(t *testing.T) {
	t.Parallel()
	for _, theme := range Builtin {
		for _, g := range []Background{Unknown, Dark, Light} {
			want := theme.Background != Unknown && g != Unknown && g != theme.Background
			if got := theme.ScreenOn(g) != nil; got != want {
				t.Errorf("%s on %d: %v", theme.Name, g, got)
			}
		}
	}
}

// TestGuide: the theme that the guide shows is one.
func TestGuide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../docs/how-to/appearance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n```json\n")
	example, _, _ := strings.Cut(rest, "```")
	if got, err := Read(folder(map[string]string{"sea.json": example})); err != nil || len(got) != 1 || got[0].Colors.Selected != "24" {
		t.Errorf("%v, %v", got, err)
	}
	for _, name := range append(colorNames(), append(Names(nil), Auto)...) {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("the guide does not name %s", name)
		}
	}
}
