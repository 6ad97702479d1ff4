package extension

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/pawl-dev/pawl/internal/app/inventory"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/extension/skill"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
)

// field is a line of a description. Lines without a value are not printed.
type field struct{ name, value string }

func printFields(w io.Writer, fields []field, warnings []string) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, warning := range warnings {
		fields = append(fields, field{"warning", warning})
	}
	for _, f := range fields {
		if f.value != "" {
			fmt.Fprintf(t, "%s:\t%s\n", f.name, sanitize.Line(f.value))
		}
	}
	return t.Flush()
}

// printAgent prints an agent and its prompt.
func printAgent(w io.Writer, a definition.Agent, prompt string) error {
	tools := "all"
	if a.Tools != nil {
		tools = strings.Join(a.Tools, ", ")
	}
	warnings := a.Faults
	for _, i := range a.Ignored {
		warnings = append(warnings, i.Key+": "+i.Why)
	}
	err := printFields(w, []field{
		{"name", a.Name}, {"description", a.Description}, {"source", sourceOf(a.Origin)}, {"file", a.Origin.File},
		{"mode", a.Mode}, {"model", a.Model}, {"tools", tools},
	}, warnings)
	if err == nil {
		_, err = fmt.Fprintf(w, "\n%s\n", strings.TrimRight(prompt, "\n"))
	}
	return err
}

// printSkill prints a skill and its instructions.
func printSkill(w io.Writer, k skill.Skill, body string, files []string) error {
	err := printFields(w, []field{
		{"name", k.Name}, {"description", k.Description}, {"source", sourceOf(k.Origin)}, {"file", k.Origin.File},
		{"license", k.License}, {"commit", k.Commit}, {"files", strings.Join(files, ", ")},
	}, k.Faults)
	if err == nil {
		_, err = fmt.Fprintf(w, "\n%s\n", strings.TrimRight(body, "\n"))
	}
	return err
}

// sourceOf returns where an extension comes from, and whose format it has if it is not Pawl's.
func sourceOf(o frontmatter.Origin) string {
	switch o.Tool {
	case "":
		return inventory.BuiltIn
	case "pawl":
		return string(o.Layer)
	}
	return fmt.Sprintf("%s (format of %s)", o.Layer, o.Tool)
}
