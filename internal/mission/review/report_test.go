package review

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// hostile is a report whose every text tries to be more than text.
func hostile() Report {
	return Report{
		Files: 1, Summary: "::set-output name=a::b\n\r::error::x\n```\n# Approved @everyone",
		Findings: []Finding{{
			Path: "a b#:ü`.go", StartLine: 2, EndLine: 3, Severity: Error, Rule: "security", Fingerprint: "f:1",
			Title: "`` ##[add-mask]x ![](https://evil.test/)", Message: "see [this](https://evil.test/)\n  ::add-mask::x\n~~~\n````\n##vso[task.setvariable]y",
			Suggestion: "\x1b[2J::warning::z",
		}},
	}
}

// orders finds what a CI would do something about.
var orders = regexp.MustCompile(`(?m)^\s*::|##\w*\[`)

// TestTextGivesNoOrders: a CI takes orders from its log, and the model gives none.
func TestTextGivesNoOrders(t *testing.T) {
	t.Parallel()
	text := hostile().Text()
	for _, all := range []string{text, hostile().Markdown()} {
		if found := orders.FindString(all); found != "" {
			t.Errorf("%q in %s", found, all)
		}
	}
	for _, want := range []string{"error: a b#:ü`.go:2-3: `` ## [add-mask]x", "  |   ::add-mask::x", `\u{1b}[2J`} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in %s", want, text)
		}
	}
}

// TestMarkdown: what the model wrote stays in its code block or span.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	golden(t, "hostile.md", []byte(hostile().Markdown()))
	long := block(strings.Repeat("word ", 100) + strings.Repeat("x", 200))
	for line := range strings.SplitSeq(long, "\n") {
		if len(line) > maxColumn && strings.Contains(line, " ") {
			t.Errorf("%q is not broken", line)
		}
	}
}

// TestSARIF: the form is held to the published schema by dev/sarif; this holds
// it to what dev/sarif has seen.
func TestSARIF(t *testing.T) {
	t.Parallel()
	r := hostile()
	r.Findings = append(r.Findings, LeftOut([]Left{{"blob.png", whyBinary}, {"big", "it is large"}})...)
	text, err := json.MarshalIndent(r.SARIF("1.2.3"), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "hostile.sarif", append(text, '\n'))
}

func TestAt(t *testing.T) {
	t.Parallel()
	r := Report{Findings: []Finding{{Severity: Note}, {Severity: Warning}, {Severity: Warning}, {Severity: Error}}}
	for least, want := range map[Severity]int{Note: 4, Warning: 3, Error: 1} {
		if got := r.At(least); got != want {
			t.Errorf("%s: %d, want %d", least, got, want)
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}
