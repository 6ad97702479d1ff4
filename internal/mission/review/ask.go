package review

import (
	_ "embed" // what a model is asked
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// Bounds of a model's answer.
const (
	MaxFindings = 200
	maxTitle    = 200 // characters
	maxMessage  = 4000
)

// Answer is the answer of a model.
type Answer struct {
	Summary  string    `json:"summary"`
	Findings []Finding `json:"findings"`
}

// Schema returns the JSON schema of an answer. It asks for a maximum number of findings; more are not an error,
// and Check drops the least severe.
func Schema(most int) *jsonschema.Schema {
	text := func(about string, most int) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Description: about, MaxLength: &most}
	}
	word := func(about string, values ...any) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Description: about, Enum: values}
	}
	first, bound := 1.0, MaxFindings
	line := func(about string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "integer", Description: about, Minimum: &first}
	}
	var ids, severities []any
	var abouts []string
	for _, r := range rules {
		if r.id != notReviewed {
			ids, abouts = append(ids, r.id), append(abouts, r.id+": "+r.about)
		}
	}
	for _, s := range Severities {
		severities = append(severities, string(s))
	}
	closed := func(s *jsonschema.Schema) *jsonschema.Schema {
		s.Type, s.AdditionalProperties = "object", &jsonschema.Schema{Not: &jsonschema.Schema{}}
		return s
	}
	finding := closed(&jsonschema.Schema{
		Required: []string{"path", "start_line", "end_line", "severity", "rule", "title", "message"},
		Properties: map[string]*jsonschema.Schema{
			"path": text("the file, as the change spells it", maxMessage), "start_line": line("its first line in the new file"), "end_line": line("its last line in the new file"),
			"severity": word("how much it matters", severities...), "rule": word(strings.Join(abouts, " "), ids...),
			"title": text("the problem, in a few words", maxTitle), "message": text("why, and when it fails", maxMessage),
			"suggestion": text("what to do instead; may be left out", maxMessage),
		},
	})
	return closed(&jsonschema.Schema{
		Required: []string{"summary", "findings"},
		Properties: map[string]*jsonschema.Schema{
			"summary":  text("what the change does and how good it is, in two sentences", maxMessage),
			"findings": {Type: "array", Items: finding, MaxItems: &bound, Description: fmt.Sprintf("at most %d, the worst first; empty if nothing is wrong", most)},
		},
	})
}

//go:embed ask.md
var ask string

// Ask returns the prompt for a model. untrusted marks untrusted text; note is a comment on the directory, or "".
func Ask(shown []File, left []Left, note string, untrusted func(source, text string) string) string {
	var change, names strings.Builder
	for _, f := range shown {
		change.WriteString(f.Show() + "\n")
	}
	for i, l := range left {
		if i == maxNamed {
			fmt.Fprintf(&names, "and %d more\n", len(left)-i)
			break
		}
		fmt.Fprintf(&names, "%s: %s\n", sanitize.Line(l.Path), l.Why)
	}
	text := ask
	if note != "" {
		text += "\n" + note + "\n"
	}
	text += "\n" + untrusted("the change", change.String())
	if names.Len() > 0 {
		text += "\n\nThese files of the change are not shown. Findings about them do not count.\n" + untrusted("files that are not shown", names.String())
	}
	return text
}
