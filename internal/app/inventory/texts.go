package inventory

import (
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/app"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
	"github.com/pawl-dev/pawl/internal/extension/rules"
	"github.com/pawl-dev/pawl/internal/humanize"
)

// text is a file that defines an extension.
type text struct {
	name        string
	origin      frontmatter.Origin
	description string
	warnings    []string
}

// texts lists the files of one kind, and those that are hidden by others of the same name.
type texts struct {
	files  []text
	hidden []definition.Hidden
	faults []frontmatter.Fault
}

// add adds all files of one kind. now are those that are active, and mark is the prefix of names.
func (v *collector) add(kind, mark string, all, now texts) {
	by := map[string]string{}
	for _, h := range now.hidden {
		by[h.File.File] = h.By.File
	}
	for _, h := range all.hidden {
		all.files = append(all.files, text{name: h.Name, origin: h.File})
	}
	for _, f := range all.files {
		used := slices.ContainsFunc(now.files, func(n text) bool { return n.origin == f.origin })
		i := v.item(kind, mark+f.name, f.origin, used, by[f.origin.File])
		i.Description, i.Warnings = f.description, f.warnings
		v.Items = append(v.Items, i)
	}
	for _, f := range now.faults {
		v.Faults = append(v.Faults, Fault{kind, f.File + ": " + f.Text})
	}
}

// agents adds the built-in agents, then those defined in files.
func (v *collector) agents() {
	for _, name := range agent.Offered() {
		v.Items = append(v.Items, Item{Kind: Agents, Name: name, Source: BuiltIn, Active: true})
	}
	of := func(f *extension.Found) texts {
		t := texts{hidden: f.Agents.Hidden, faults: f.Agents.Faults}
		for _, a := range f.Agents.Agents {
			warnings := ignoredLines(a.Ignored, a.Faults)
			if err := app.KnownModel(a.Model); err != nil { // its turns fail with the same error
				warnings = append(warnings, "model: "+err.Error())
			}
			t.files = append(t.files, text{a.Name, a.Origin, a.Description, warnings})
		}
		return t
	}
	v.add(Agents, "", of(v.all), of(v.found))
}

func (v *collector) commands() {
	of := func(f *extension.Found) texts {
		t := texts{hidden: f.Commands.Hidden, faults: f.Commands.Faults}
		for _, c := range f.Commands.Commands {
			t.files = append(t.files, text{c.Name, c.Origin, c.Description, ignoredLines(c.Ignored, c.Faults)})
		}
		return t
	}
	v.add(Commands, "/", of(v.all), of(v.found))
}

// rules adds the rules that are part of the system prompt. Rules of subdirectories are added to the
// conversation when the model reads a file there.
func (v *collector) rules() {
	given := map[string]rules.File{}
	for _, r := range v.found.Rules.Files {
		given[r.Origin.File] = r
	}
	of := func(f *extension.Found) texts {
		t := texts{faults: f.Rules.Faults}
		for _, r := range f.Rules.Files {
			if now, ok := given[r.Origin.File]; ok {
				r = now // if all were trusted, the model might get less of it
			}
			size := humanize.Bytes(r.Bytes)
			if r.Given != r.Bytes {
				size = humanize.Bytes(r.Given) + " of " + size
			}
			t.files = append(t.files, text{name: filepath.Base(r.Origin.File), origin: r.Origin, description: size})
		}
		return t
	}
	v.add(Rules, "", of(v.all), of(v.found))
}

func (v *collector) skills() {
	of := func(f *extension.Found) texts {
		t := texts{faults: f.Skills.Faults}
		for _, k := range f.Skills.Skills {
			t.files = append(t.files, text{k.Name, k.Origin, k.Description, k.Faults})
		}
		for _, h := range f.Skills.Hidden {
			t.hidden = append(t.hidden, definition.Hidden(h))
		}
		return t
	}
	v.add(Skills, "", of(v.all), of(v.found))
}

// ignoredLines returns warnings about the ignored keys and the faults of a definition.
func ignoredLines(ignored []definition.Ignored, faults []string) []string {
	var lines []string
	for _, i := range ignored {
		lines = append(lines, i.Key+": "+i.Why)
	}
	return append(lines, faults...)
}
