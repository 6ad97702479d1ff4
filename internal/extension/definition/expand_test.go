package definition_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/extension/definition"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	base := put(t, map[string]string{
		"repo/a.md": "text\u202e\n", "repo/src/b.go": "```go```\n", "repo/link": "->../out/secret", "repo/dir": "->../out", "repo/up": "->..", "out/secret": "s3cret",
		"repo/big": strings.Repeat("x", 100<<10), "repo/bytes": "\x00", "repo/near": "->a.md",
	})
	files := definition.FilesIn(folder(t, filepath.Join(base, "repo")).Tree)
	section := "\n\nThe file a.md:\n```\ntext\\u{202e}\n```"
	for name, tt := range map[string]struct {
		body, args string
		want       definition.Expansion
	}{
		"plain":             {"Do it.", "", definition.Expansion{Text: "Do it."}},
		"all arguments":     {"Fix $ARGUMENTS now.", `a "b c"`, definition.Expansion{Text: `Fix a "b c" now.`}},
		"words":             {"$1, $2, $3; $10 $A $", `a "b c"`, definition.Expansion{Text: "a, b c, ; $10 $A $"}},
		"not named":         {"Do it.", "a b", definition.Expansion{Text: "Do it.\n\na b"}},
		"a file":            {"Look at @a.md.", "", definition.Expansion{Text: "Look at @a.md." + section, Files: []string{"a.md"}}},
		"a file twice":      {"@a.md (@./a.md)", "", definition.Expansion{Text: "@a.md (@./a.md)" + section, Files: []string{"a.md"}}},
		"a file with marks": {"@src/b.go", "", definition.Expansion{Text: "@src/b.go\n\nThe file src/b.go:\n````\n```go```\n````", Files: []string{"src/b.go"}}},
		"a file by word":    {"Look: @$1", "a.md", definition.Expansion{Text: "Look: @a.md" + section, Files: []string{"a.md"}}},
		"an address":        {"Mail me@a.md", "", definition.Expansion{Text: "Mail me@a.md"}},
		"no file":           {"Ask @somebody", "", definition.Expansion{Text: "Ask @somebody", Faults: []string{"file somebody was not attached: not found"}}},
		"a link":            {"@link", "", definition.Expansion{Text: "@link", Faults: []string{"file link was not attached: it is a symbolic link: use the path of its target"}}},
		"a link within":     {"@near", "", definition.Expansion{Text: "@near", Faults: []string{"file near was not attached: it is a symbolic link: use the path of its target"}}},
		"behind a link":     {"@dir/secret", "", definition.Expansion{Text: "@dir/secret", Faults: []string{"file dir/secret was not attached: dir is a symbolic link: use the path of its target"}}},
		"up":                {"@../out/secret", "", definition.Expansion{Text: "@../out/secret", Faults: []string{"file ../out/secret was not attached: it is outside the workspace"}}},
		"up by a word":      {"@$1", "../out/secret", definition.Expansion{Text: "@../out/secret", Faults: []string{"file ../out/secret was not attached: it is outside the workspace"}}},
		"up a link":         {"@up/../out/secret", "", definition.Expansion{Text: "@up/../out/secret", Faults: []string{"file up/../out/secret was not attached: not found"}}},
		"absolute":          {"@/etc/passwd", "", definition.Expansion{Text: "@/etc/passwd", Faults: []string{"file /etc/passwd was not attached: it is outside the workspace"}}},
		"home":              {"@~/.ssh/id", "", definition.Expansion{Text: "@~/.ssh/id", Faults: []string{"file ~/.ssh/id was not attached: it is outside the workspace"}}},
		"too large":         {"@big", "", definition.Expansion{Text: "@big", Faults: []string{"file big was not attached: it is larger than 65536 bytes"}}},
		"no text":           {"@bytes", "", definition.Expansion{Text: "@bytes", Faults: []string{"file bytes was not attached: it is not a text file"}}},
		"a command line":    {"Status: !`git status; rm -rf /`", "", definition.Expansion{Text: "Status: (command git status; rm -rf / was not run)", Faults: []string{"command git status; rm -rf / was not run"}}},
		"in the arguments":  {"Say $ARGUMENTS", "!`id` @a.md $1", definition.Expansion{Text: "Say !`id` @a.md $1"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := definition.Command{Name: "x", Body: tt.body}.Expand(tt.args, files)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
		})
	}
	bomb := definition.Command{Name: "x", Body: strings.Repeat("$ARGUMENTS", 20000)}
	if got, err := bomb.Expand(strings.Repeat("x", 10000), files); err == nil {
		t.Errorf("%d bytes", len(got.Text))
	}
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, "@f%d ", i)
	}
	got, err := definition.Command{Name: "x", Body: many.String()}.Expand("", func(string, int64) ([]byte, error) { return []byte("x"), nil })
	if len(got.Files) != 20 || len(got.Faults) != 10 || err != nil {
		t.Errorf("%d, %d, %v", len(got.Files), len(got.Faults), err)
	}
}

// TestExpandLiteral: whatever the arguments are, they stand for themselves, and
// no file is read but those that the command names.
func TestExpandLiteral(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.StringMatching("[a-c $1@!`./ARGUMENTS\"']{0,30}").Draw(t, "args")
		var read []string
		got, err := definition.Command{Body: "[$ARGUMENTS] @known"}.Expand(args, func(path string, _ int64) ([]byte, error) {
			read = append(read, path)
			return []byte("k"), nil
		})
		if err != nil || !strings.HasPrefix(got.Text, "["+args+"] @known") || len(read) != 1 || read[0] != "known" || got.Faults != nil {
			t.Fatalf("%q: %q, %q, %v", args, got.Text, read, err)
		}
	})
}
