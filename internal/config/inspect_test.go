package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFindings: what is wrong is reported with its place and what was likely meant.
// What is about safety, or is known and does not fit, is an error.
func TestFindings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"none", `{"model":"m"}`, nil},
		{"a slip", "{\n  // note\n  \"modell\": 1}", []string{`3:3: warning: unknown key "modell": did you mean "model"; it counts for nothing`}},
		{"nothing is near", `{"zzzzzz":1}`, []string{`1:2: warning: unknown key "zzzzzz"; it counts for nothing`}},
		{"within", `{"providers":{"openai":{"base_ulr":"x"}}}`, []string{`1:25: warning: unknown key "providers.openai.base_ulr": did you mean "base_url"; it counts for nothing`}},
		{"several", `{"a1":1,"fallback":[1,"x"]}`, []string{`1:2: warning: unknown key "a1"; it counts for nothing`, `1:21: error: fallback.0 is a number, and must be a string`}},
		{"types", `{"model":[],"providers":1,"permissions":"x"}`, []string{
			`1:10: error: model is a list, and must be a string`, `1:25: error: providers is a number, and must be an object`, `1:41: error: permissions is a string, and must be an object`,
		}},
		{"null", `{"permissions":{"rules":null}}`, []string{`1:25: error: permissions.rules is null: leave the key out`}},
		{"another case", `{"MODEL":"m"}`, []string{`1:2: error: unknown key "MODEL": did you mean "model"?`}},
		{"safety", `{"sandbox":{"netwrk":[]}}`, []string{`1:13: error: unknown key "sandbox.netwrk": did you mean "network". It would say what is allowed, so pawl does not go on without it`}},
		{"nearly safety", `{"sanbox":{}}`, []string{`1:2: error: unknown key "sanbox": did you mean "sandbox". It would say what is allowed, so pawl does not go on without it`}},
		{"twice", `{"model":"a","model":"b"}`, []string{`1:14: error: duplicate key "model"`}},
		{"not an object", `[]`, []string{`1:1: error: it is a list, and must be an object`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, findings, err := decodeUser([]byte(tt.text))
			var got []string
			bad := false
			for _, f := range findings {
				got = append(got, f.String())
				bad = bad || f.Level == LevelError
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || bad != (err != nil) {
				t.Error(diff, err)
			}
		})
	}
	if _, _, err := decodeUser([]byte(strings.Repeat("[", maxText))); err == nil {
		t.Error("it is too deep")
	}
	if _, _, err := decodeUser([]byte("{}" + strings.Repeat(" ", maxText))); err == nil {
		t.Error("it is too large")
	}
}
