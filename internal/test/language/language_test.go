// Package language checks that names, comments and documentation use the project's terms. The rules are in
// rules_test.go; exceptions.txt lists what breaks a rule for a reason.
package language

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// root is the module's root.
const root = "../../.."

//go:embed exceptions.txt
var exceptionsText string

// TestLanguage fails on banned words and phrases in identifiers, package names, file names, comments and Markdown.
func TestLanguage(t *testing.T) {
	t.Parallel()
	found := withoutExceptions(t, scan(t, os.DirFS(root)))
	const most = 100
	for i, f := range found {
		if i == most {
			t.Errorf("and %d more", len(found)-most)
			break
		}
		t.Errorf("%s:%d: %q (rule %q): say %s", f.file, f.line, f.text, f.rule.name, f.rule.say)
	}
}

// An exception allows what breaks a rule.
type exception struct {
	rule, path, text string
	used             bool
}

func (e *exception) allows(f finding) bool {
	return e.rule == f.rule.name && strings.HasPrefix(f.file, e.path) && (e.text == "*" || strings.EqualFold(e.text, f.text))
}

// withoutExceptions removes what exceptions.txt allows. An exception that nothing needs is an error.
func withoutExceptions(t *testing.T, found []finding) []finding {
	t.Helper()
	exceptions, err := readExceptions(exceptionsText)
	if err != nil {
		t.Fatal(err)
	}
	found = slices.DeleteFunc(found, func(f finding) bool {
		allowed := false
		for i := range exceptions {
			if exceptions[i].allows(f) {
				exceptions[i].used, allowed = true, true
			}
		}
		return allowed
	})
	for _, e := range exceptions {
		if !e.used {
			t.Errorf("exceptions.txt: nothing needs %q in %s (rule %q)", e.text, e.path, e.rule)
		}
	}
	return found
}

// readExceptions parses lines of the form "rule | path prefix | text or * | reason".
func readExceptions(text string) ([]exception, error) {
	var list []exception
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if len(fields) != 4 || slices.Contains(fields, "") {
			return nil, fmt.Errorf("exceptions.txt:%d: want: rule | path | text | reason", n)
		}
		if !slices.ContainsFunc(append(phrases, rules...), func(r rule) bool { return r.name == fields[0] }) {
			return nil, fmt.Errorf("exceptions.txt:%d: unknown rule %q", n, fields[0])
		}
		list = append(list, exception{rule: fields[0], path: fields[1], text: fields[2]})
	}
	return list, lines.Err()
}

// TestRules checks the rules on samples: each finds what it should and nothing else.
func TestRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		src  string
		want string // the rules that are broken
	}{
		{"package a\n\n// Open opens the desk.\nfunc Open() {}", "desk"},
		{"package a\n\nvar openDesks int", "desk"},
		{"package desk", "desk"},
		{"package a\n\nfunc f(theBox int) { hands := 1; _ = hands }", "box hands"},
		{"package a\n\nvar sandbox, boxed, inbox, handsome int", ""},
		{"package a\n\n// The caller is\n// told of it.", "told"},
		{"package a\n\n// A round trip to the server, and a trip.", "trip"},
		{"package a\n\n// It removes the file of the user's.", "genitive"},
		{"package a\n\n// It reads the configuration of the user's project.", ""},
		{"package a\n\n// It returns what came of it.", "came of"},
		{"package a\n\nvar _ = \"a desk in a string\"", "desk"},
		{"package a\n\nvar _ = \"desk\"", ""},
		{"package a\n\nvar _ = \"it is no file\"", "is no"},
		{"package a\n\nvar _ = \"it is no longer there\"", ""},
	}
	for _, tt := range tests {
		found, err := goFindings("x/a.go", []byte(tt.src))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			got = append(got, f.rule.name)
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%q breaks %q, want %q", tt.src, got, tt.want)
		}
	}
	if got := proseFindings("a.md", string(withoutCode([]byte("The `desk`.\n```\ndesk\n```\nA [desk](desk.md).\n"))), 1); len(got) != 1 || got[0].line != 5 {
		t.Errorf("Markdown: %v", got)
	}
}
