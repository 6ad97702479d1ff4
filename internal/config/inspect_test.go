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
		{"a slip", "{\n  // note\n  \"modell\": 1}", []string{`3:3: warning: unknown key "modell" is ignored: did you mean "model"?`}},
		{"nothing is near", `{"zzzzzz":1}`, []string{`1:2: warning: unknown key "zzzzzz" is ignored`}},
		{"within", `{"providers":{"openai":{"base_ulr":"x"}}}`, []string{`1:25: warning: unknown key "providers.openai.base_ulr" is ignored: did you mean "base_url"?`}},
		{"several", `{"a1":1,"fallback":[1,"x"]}`, []string{`1:2: warning: unknown key "a1" is ignored`, `1:21: error: fallback.0 is a number, but must be a string`}},
		{"types", `{"model":[],"providers":1,"permissions":"x"}`, []string{
			`1:10: error: model is a list, but must be a string`, `1:25: error: providers is a number, but must be an object`, `1:41: error: permissions is a string, but must be an object`,
		}},
		{"null", `{"permissions":{"rules":null}}`, []string{`1:25: error: permissions.rules is null: remove the key instead`}},
		{"another case", `{"MODEL":"m"}`, []string{`1:2: error: unknown key "MODEL": did you mean "model"?`}},
		{"safety", `{"sandbox":{"netwrk":[]}}`, []string{`1:13: error: unknown security setting "sandbox.netwrk": did you mean "network"?`}},
		{"nearly safety", `{"sanbox":{}}`, []string{`1:2: error: unknown security setting "sanbox": did you mean "sandbox"?`}},
		{"twice", `{"model":"a","model":"b"}`, []string{`1:14: error: duplicate key "model"`}},
		{"not an object", `[]`, []string{`1:1: error: the file is a list, but must be an object`}},
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
