package ignore

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tests compare each row of the table with git. A path that ends with a slash is a
// directory.
var table = []struct {
	file    string
	ignored []string
	kept    []string
}{
	{"a", []string{"a", "a/", "d/a", "d/e/a"}, []string{"A", "ab", "ba"}},
	{"a/", []string{"a/", "d/a/", "a/x"}, []string{"a", "d/a"}},
	{"/a", []string{"a", "a/x"}, []string{"d/a", "ab"}},
	{"d/a", []string{"d/a"}, []string{"a", "e/d/a"}},
	{"/d/a", []string{"d/a"}, []string{"a", "e/d/a"}},
	{"d/a/", []string{"d/a/"}, []string{"d/a", "a/"}},
	{"*.o", []string{"x.o", ".o", "d/x.o", "x.o/"}, []string{"x.oo", "xo", "x.o.c"}},
	{"*", []string{"a", ".a", "d/a"}, nil},
	{"?", []string{"a", "d/b"}, []string{"ab"}},
	{"a*b*c", []string{"abc", "a1b2c", "abbcc"}, []string{"acb", "ab", "abcd"}},
	{"a**c", []string{"ac", "abc"}, []string{"a"}},
	{"**", []string{"a", "d/a"}, nil},
	{"/*", []string{"a", "d/a"}, nil},
	{"/d/*", []string{"d/a", "d/e/"}, []string{"d/", "a"}},
	{"d/*.o", []string{"d/x.o"}, []string{"d/e/x.o", "x.o"}},
	{"**/a", []string{"a", "d/a", "d/e/a"}, []string{"d/ab"}},
	{"**/d/a", []string{"d/a", "e/d/a"}, []string{"a"}},
	{"d/**", []string{"d/a", "d/e/a", "d/e/"}, []string{"d/", "a", "e/d/a"}},
	{"d/**/a", []string{"d/a", "d/e/a", "d/e/f/a"}, []string{"a", "e/d/a"}},
	{"**/d/**", []string{"d/a", "e/d/a"}, []string{"d/", "e/d/"}},
	{"d/a**", []string{"d/a", "d/ab"}, []string{"d/b", "d/e/a"}},
	{"d/**b", []string{"d/b", "d/ab"}, []string{"d/e/b"}},
	{"/**", []string{"a", "d/a"}, nil},
	{"[ab]", []string{"a", "b"}, []string{"c", "ab"}},
	{"[!ab]", []string{"c"}, []string{"a", "b"}},
	{"[^ab]", []string{"c"}, []string{"a", "b"}},
	{"[a-c]x", []string{"ax", "bx", "cx"}, []string{"dx", "x"}},
	{"[]a]", []string{"]", "a"}, []string{"b"}},
	{"[!]a]", []string{"b"}, []string{"]", "a"}},
	{"[a-]", []string{"a", "-"}, []string{"b"}},
	{`[\]]`, []string{"]"}, []string{`\`}},
	{"[[:digit:]_]", []string{"7", "_"}, []string{"a", ":"}},
	{"[[:alpha:]][[:xdigit:]]", []string{"zF", "a0"}, []string{"1a", "zg"}},
	{"[[:upper:][:space:]]", []string{"A", " "}, []string{"a"}},
	{"[[:nothing:]]", nil, []string{"n", ":"}},
	{"[z-a]", []string{"z"}, []string{"a", "m"}},
	{"[ab", nil, []string{"a", "[ab"}},
	{`\*`, []string{"*"}, []string{"a", `\*`}},
	{`\a`, []string{"a"}, []string{`\a`}},
	{`a\`, nil, []string{"a", `a\`}},
	{"# a comment\n#a", nil, []string{"#a", "a"}},
	{`\#a`, []string{"#a"}, nil},
	{`\!a`, []string{"!a"}, []string{"a"}},
	{"a  ", []string{"a"}, []string{"a  "}},
	{`a\ `, []string{"a "}, []string{"a"}},
	{`a\  `, []string{"a "}, []string{"a", "a  "}},
	{"a\t", nil, []string{"a"}},
	{" a", []string{" a"}, []string{"a"}},
	{"a\r\nb\r\n", []string{"a", "b"}, []string{"c"}},
	{"\xEF\xBB\xBFa\nb", []string{"a", "b"}, nil},
	{"\n\n   \n/\n!\n", nil, []string{"a", "d/"}},
	{"*.o\n!x.o", []string{"y.o"}, []string{"x.o", "d/x.o"}},
	{"!x.o\n*.o", []string{"x.o"}, nil},
	{"d/\n!d/a", []string{"d/", "d/a"}, nil}, // entries of an ignored directory cannot be included again
	{"d/*\n!d/a", []string{"d/b"}, []string{"d/a", "d/"}},
	{"/*\n!/d", []string{"a"}, []string{"d/", "d/a"}},
	{"*\n!*/\n!*.c", []string{"a", "d/x.o"}, []string{"x.c", "d/x.c", "d/"}},
	{"日*", []string{"日本"}, []string{"本日"}},
	{"a//", nil, []string{"a/"}},
	{"*a*a*a*a*a*a*a*a*b", nil, []string{strings.Repeat("a", 200)}},
}

// ask matches a path as a walk does: directory by directory.
func ask(rules *Rules, path string) bool {
	path, isFolder := strings.CutSuffix(path, "/")
	for i := range path {
		if path[i] == '/' && rules.Ignored(path[:i], true) {
			return true
		}
	}
	return rules.Ignored(path, isFolder)
}

func TestTable(t *testing.T) {
	t.Parallel()
	for _, test := range table {
		var none *Rules
		rules := none.In(".", Files{Git: []byte(test.file)})
		for _, path := range test.ignored {
			if !ask(rules, path) {
				t.Errorf("%q does not ignore %q", test.file, path)
			}
		}
		for _, path := range test.kept {
			if ask(rules, path) {
				t.Errorf("%q ignores %q", test.file, path)
			}
		}
	}
}

func TestGitAgrees(t *testing.T) {
	t.Parallel()
	var want []string
	dir := t.TempDir()
	git(t, dir, "", "init", "-q")
	var asked bytes.Buffer
	for i, test := range table {
		for k, path := range slices.Concat(test.ignored, test.kept) {
			// A directory each: a row may have a path as a file and as a directory.
			row := fmt.Sprintf("%d.%d", i, k)
			at := filepath.Join(dir, row)
			write(t, filepath.Join(at, ".gitignore"), test.file)
			if strings.HasSuffix(path, "/") {
				path = strings.TrimSuffix(path, "/")
				if err := os.MkdirAll(filepath.Join(at, path), 0o755); err != nil {
					t.Fatal(err)
				}
			} else {
				write(t, filepath.Join(at, path), "x")
			}
			name := filepath.Join(row, path)
			asked.WriteString(name + "\x00")
			if k < len(test.ignored) {
				want = append(want, name)
			}
		}
	}
	got := strings.Split(strings.TrimSuffix(git(t, dir, asked.String(), "check-ignore", "--stdin", "-z", "--no-index"), "\x00"), "\x00")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("git says otherwise: %s", diff)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	var rules *Rules
	rules = rules.In(".", Files{Git: []byte("from-exclude\nboth\n")})
	rules = rules.In(".", Files{Git: []byte("!both\n*.log\n/top\n"), Ignore: []byte("!wanted.log\nplain\n")})
	inner := rules.In("a", Files{Git: []byte("!keep.log\n/top\nwanted.log\n!plain\n")})
	deep := inner.In("a/b", Files{Ignore: []byte("deep\n")})
	if got := deep.In("a/b/c", Files{Git: []byte("# nothing\n")}); got != deep {
		t.Error("a file without patterns makes new rules")
	}
	for _, test := range []struct {
		rules *Rules
		path  string
		want  bool
	}{
		{rules, "from-exclude", true},
		{rules, "both", false},
		{rules, "x.log", true},
		{inner, "a/x.log", true},
		{inner, "a/keep.log", false},
		{rules, "keep.log", true},
		{rules, "top", true},
		{inner, "a/top", true},
		{deep, "a/b/top", false},
		{inner, "a/wanted.log", false}, // .ignore takes precedence, in any directory
		{inner, "a/plain", true},
		{deep, "a/b/deep", true},
		{inner, "a/deep", false},
		{nil, "x.log", false},
	} {
		if got := test.rules.Ignored(test.path, false); got != test.want {
			t.Errorf("%s: ignored %v", test.path, got)
		}
	}
}

// git runs git without the machine's configuration. An exit code of 1 is not an error.
func git(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 {
		t.Fatalf("git %s: %v", args, err)
	}
	return string(out)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
