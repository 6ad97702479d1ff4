package turn

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/transcript"
)

// TestRemaining checks that a further turn gets what is left of the limits.
func TestRemaining(t *testing.T) {
	t.Parallel()
	used := newResult("")
	used.Steps, used.Usage = 2, pawl.Usage{Input: 6, Output: 4, Cost: 10}
	for name, test := range map[string]struct {
		limits pawl.Settings
		want   pawl.Settings // zero if a limit is used up
	}{
		"no limits": {pawl.Settings{Model: "m"}, pawl.Settings{Model: "m"}},
		"enough": {
			pawl.Settings{MaxSteps: 5, MaxCost: 30, MaxTokens: 11, MaxTime: time.Hour, MaxSessionCost: 1},
			pawl.Settings{MaxSteps: 3, MaxCost: 20, MaxTokens: 1, MaxTime: time.Hour - time.Minute, MaxSessionCost: 1},
		},
		"steps":  {pawl.Settings{MaxSteps: 2}, pawl.Settings{}},
		"cost":   {pawl.Settings{MaxCost: 10}, pawl.Settings{}},
		"tokens": {pawl.Settings{MaxTokens: 10}, pawl.Settings{}},
		"time":   {pawl.Settings{MaxTime: time.Minute}, pawl.Settings{}},
	} {
		got, err := remaining(test.limits, used, time.Minute)
		if err != nil {
			got = pawl.Settings{}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// TestUnfenced checks that a code fence is removed only if it encloses the whole text.
func TestUnfenced(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{}":                             "{}",
		" {}\n":                          "{}",
		"```\n{}\n```":                   "{}",
		"```json\n{\"a\": 1}\n```\n":     `{"a": 1}`,
		"Here:\n```json\n{}\n```":        "Here:\n```json\n{}\n```",
		"```json\n{}\n```\n```\n[]\n```": "```json\n{}\n```\n```\n[]\n```",
		"```json\n{}":                    "```json\n{}",
		"```":                            "```",
	} {
		if got := unfenced(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestInclude checks that a result covers all turns, and that its lists are not null in JSON.
func TestInclude(t *testing.T) {
	t.Parallel()
	total := newResult("s")
	for _, turn := range []Result{
		{Text: "a", Steps: 1, Usage: pawl.Usage{Input: 1, Cost: 1e9}, FilesChanged: []string{"x", "y"}, Denials: []transcript.Denial{{Tool: "bash"}}},
		{Text: "b", Steps: 2, Usage: pawl.Usage{Input: 2, Cost: 1e9}, FilesChanged: []string{"y", "z"}},
	} {
		total.include(turn)
	}
	if total.Text != "b" || total.Steps != 3 || total.Usage.Input != 3 || total.CostUSD != 2 {
		t.Errorf("%+v", total)
	}
	if diff := cmp.Diff([]string{"x", "y", "z"}, total.FilesChanged); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]transcript.Denial{{Tool: "bash"}}, total.Denials); diff != "" {
		t.Error(diff)
	}
	empty := newResult("s")
	empty.include(newResult("s"))
	if empty.Denials == nil || empty.FilesChanged == nil {
		t.Errorf("%+v", empty)
	}
}
