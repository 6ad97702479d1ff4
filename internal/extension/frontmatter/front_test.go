package frontmatter_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text, description, body string
		faults                  []string
	}{
		"plain":             {"---\nname: a\ndescription: b c\n---\nbody\n", "b c", "body\n", nil},
		"no head":           {"# Title\n---\n", "", "# Title\n---\n", nil},
		"empty":             {"", "", "", nil},
		"head alone":        {"---\ndescription: x\n---", "x", "", nil},
		"empty head":        {"---\n---\nbody", "", "body", nil},
		"comment alone":     {"---\n# x\n---\nbody", "", "body", nil},
		"null":              {"---\n~\n---\nbody", "", "body", nil},
		"windows":           {"\ufeff---\r\ndescription: x\r\n---\r\nbody\r\nmore\r\n", "x", "body\nmore\n", nil},
		"blanks":            {"--- \ndescription: x\n---\t\nbody", "x", "body", nil},
		"folded":            {"---\ndescription: >\n  a\n  b\n---\n", "a b", "", nil},
		"number":            {"---\ndescription: 1.50\n---\n", "1.50", "", nil},
		"date":              {"---\ndescription: 2026-11-15\n---\n", "2026-11-15", "", nil},
		"dashes in body":    {"---\ndescription: x\n---\na\n---\nb\n", "x", "a\n---\nb\n", nil},
		"colon":             {"---\nname: a\ndescription: Use when: it's # late\n---\nb", "Use when: it's # late", "b", []string{"quote the value of description: it is not valid YAML"}},
		"text and not list": {"---\ndescription: [a]\n---\nb", "", "b", []string{"description: must be text"}},
		"not UTF-8":         {"---\ndescription: a\xffb\n---\nc\x00d", "a\uFFFDb", "c\uFFFDd", []string{"the file is not valid UTF-8: invalid bytes are replaced"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := frontmatter.Parse([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Text("description"); got != tt.description || m.Body != tt.body {
				t.Errorf("%q, %q", got, m.Body)
			}
			if diff := cmp.Diff(tt.faults, m.Faults); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// laughs is a bomb: each line is ten of the one before it.
const laughs = "---\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n---\n"

func TestHostile(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"billion laughs":   {laughs, "anchors and aliases"},
		"anchor":           {"---\na: &x 1\n---\n", "anchors and aliases"},
		"merge":            {"---\na:\n  <<: {b: 1}\n---\n", `"!!merge"`},
		"own tag":          {"---\na: !!python/object:os.system x\n---\n", "unsupported type"},
		"binary":           {"---\na: !!binary aGk=\n---\n", "unsupported type"},
		"key twice":        {"---\na: 1\na: 2\n---\n", "duplicate"},
		"key twice, below": {"---\na: {b: 1, b: 2}\n---\n", "duplicate"},
		"key is a list":    {"---\n? [a]\n: 1\n---\n", "not a word"},
		"a list":           {"---\n- a\n---\n", "must be a mapping of keys to values"},
		"a word":           {"---\na\n---\n", "must be a mapping of keys to values"},
		"too deep":         {"---\na: " + strings.Repeat("[", 20) + strings.Repeat("]", 20) + "\n---\n", "levels deep"},
		"too many":         {"---\na: [" + strings.Repeat("1,", 2000) + "]\n---\n", "more than 1000 values"},
		"never ends":       {"---\na: 1\n", "is missing"},
		"too long":         {"---\n" + strings.Repeat("# comment\n", 5000) + "---\n", "longer than 16384 bytes"},
		"one long line":    {"---\na: " + strings.Repeat("x", 20000) + "\n---\n", "longer than 16384 bytes"},
		"two documents":    {"---\na: 1\n--- # more\nb: 2\n---\n", "more than one document"},
		"no YAML":          {"---\na: [\n---\n", "invalid front matter"},
		"tabs":             {"---\na:\n\t- b\n---\n", "invalid front matter"},
		"deepest":          {"---\na: " + strings.Repeat("[", 16000) + "\n---\n", "invalid front matter"},
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := frontmatter.Parse([]byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v, %v", m, err)
			}
		})
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	m, err := frontmatter.Parse([]byte(`---
list: [Read, "Bash(git log:*)", 3, [x]]
words: Read, Grep Bash(git log, x:*),
flags: {write: false, bash: true, more: [1]}
yes: true
odd: maybe
steps: 12
hot: .nan
much: 1e9
none:
color: '#ff0000'
left: 1
---
`))
	if err != nil {
		t.Fatal(err)
	}
	var temperature *float64
	if diff := cmp.Diff([]string{"Read", "Bash(git log:*)", "3"}, m.Words("list")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Read", "Grep", "Bash(git log, x:*)"}, m.Words("words")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"write": "false", "bash": "true"}, m.Pairs("flags")); diff != "" {
		t.Error(diff)
	}
	twelve := 12.0
	if diff := cmp.Diff(&twelve, m.Number("steps", 1, 1000)); diff != "" {
		t.Error(diff)
	}
	if m.Number("hot", 0, 2) != temperature || m.Number("much", 0, 2) != temperature || m.Number("none", 0, 2) != temperature {
		t.Error("a number that is none")
	}
	if !m.Bool("yes", false) || m.Bool("odd", false) || !m.Bool("missing", true) || m.Has("none") || !m.Has("yes") || !m.IsMap("flags") || m.IsMap("list") {
		t.Error("flags")
	}
	if m.Words("flags") != nil || m.Pairs("list") != nil {
		t.Error("a map is no list")
	}
	want := []string{
		"list: line 2 must be a word", `flags: "more" must be text`,
		"hot: must be a number from 0 to 2", "much: must be a number from 0 to 2", "odd: must be true or false",
		"flags: must be a list, or words separated by commas", "list: must be a mapping of keys to values",
	}
	if diff := cmp.Diff(want, m.Faults); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"color", "left"}, m.Unknown()); diff != "" {
		t.Error(diff)
	}
}

// TestEncodeDecode: whatever value stands in quotes is what is read, and the body
// is what stands behind it.
func TestEncodeDecode(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[ -~äß漢]{0,60}`).Draw(t, "value")
		body := rapid.StringMatching(`([ -~]{0,20}\n){0,5}`).Draw(t, "body")
		m, err := frontmatter.Parse([]byte("---\nkey: '" + strings.ReplaceAll(value, "'", "''") + "'\n---\n" + body))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Text("key"); got != strings.TrimSpace(value) || m.Body != body {
			t.Fatalf("%q, %q", got, m.Body)
		}
	})
}

// FuzzParse: no file makes it fail in another way than by an error, nor take in
// more than its bounds; what it returns is text.
func FuzzParse(f *testing.F) {
	f.Add([]byte("---\nname: a\ntools: [b, c]\nm: {x: 1}\n---\nbody"))
	f.Add([]byte(laughs))
	f.Add([]byte("---\na: b: c\n---\n"))
	f.Add([]byte("---\n0: [:!00 \xef\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := frontmatter.Parse(text)
		if err != nil {
			return
		}
		for _, key := range m.Unknown() {
			if !utf8.ValidString(m.Text(key)) || len(m.Text(key)) > frontmatter.MaxHead || len(m.Words(key)) > frontmatter.MaxHead || len(m.Pairs(key)) > frontmatter.MaxNodes {
				t.Errorf("%q", key)
			}
		}
		if !utf8.ValidString(m.Body) || strings.ContainsRune(m.Body, 0) || len(m.Body) > 3*len(text) {
			t.Errorf("%q", m.Body)
		}
	})
}
