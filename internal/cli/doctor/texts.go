package doctor

import (
	"path/filepath"
	"slices"

	"github.com/pawl-dev/pawl/internal/agent"
	"github.com/pawl-dev/pawl/internal/extension"
	"github.com/pawl-dev/pawl/internal/extension/definition"
	"github.com/pawl-dev/pawl/internal/extension/frontmatter"
)

// text is a file that defines an extension.
type text struct {
	name     string
	origin   frontmatter.Origin
	warnings []string
}

// texts lists the files of one kind, and those that are hidden by others of the same name.
type texts struct {
	files  []text
	hidden []definition.Hidden
	faults []frontmatter.Fault
}

// add adds all files of one kind to a group. now are those that are in effect.
func (v *inventory) add(g *itemGroup, all, now texts) {
	by := map[string]string{}
	for _, h := range now.hidden {
		by[h.File.File] = h.By.File
	}
	for _, h := range all.hidden {
		all.files = append(all.files, text{name: g.Mark + h.Name, origin: h.File})
	}
	for _, f := range all.files {
		used := slices.ContainsFunc(now.files, func(n text) bool { return n.origin == f.origin })
		i := v.item(f.name, f.origin, used, by[f.origin.File])
		i.Warnings = f.warnings
		g.Items = append(g.Items, i)
	}
	for _, f := range now.faults {
		g.Faults = append(g.Faults, f.File+": "+f.Text)
	}
}

// agents lists the built-in agents, then those defined in files.
func (v *inventory) agents() itemGroup {
	g := itemGroup{Kind: "agents", Items: []item{}, Show: "pawl agents list"}
	for _, name := range agent.Offered() {
		if _, err := agent.Lookup(name); err == nil { // the others do not accept prompts
			g.Items = append(g.Items, item{Name: name, Origin: builtIn, InEffect: true})
		}
	}
	of := func(f *extension.Found) texts {
		t := texts{hidden: f.Agents.Hidden, faults: f.Agents.Faults}
		for _, a := range f.Agents.Agents {
			t.files = append(t.files, text{a.Name, a.Origin, ignoredLines(a.Ignored, a.Faults)})
		}
		return t
	}
	v.add(&g, of(v.all), of(v.found))
	return g
}

func (v *inventory) commands() itemGroup {
	g := itemGroup{Kind: "commands", Mark: "/", Items: []item{}, Show: "pawl commands list"}
	of := func(f *extension.Found) texts {
		t := texts{hidden: f.Commands.Hidden, faults: f.Commands.Faults}
		for _, c := range f.Commands.Commands {
			t.files = append(t.files, text{g.Mark + c.Name, c.Origin, ignoredLines(c.Ignored, c.Faults)})
		}
		return t
	}
	v.add(&g, of(v.all), of(v.found))
	return g
}

// rules lists the rules that are part of the system prompt. Rules of subdirectories are added when
// the model reads a file there.
func (v *inventory) rules() itemGroup {
	g := itemGroup{Kind: "rules", Items: []item{}, Show: "pawl config rules"}
	of := func(f *extension.Found) texts {
		t := texts{faults: f.Rules.Faults}
		for _, r := range f.Rules.Files {
			t.files = append(t.files, text{name: filepath.Base(r.Origin.File), origin: r.Origin})
		}
		return t
	}
	v.add(&g, of(v.all), of(v.found))
	return g
}

func (v *inventory) skills() itemGroup {
	g := itemGroup{Kind: "skills", Items: []item{}, Show: "pawl skills list"}
	of := func(f *extension.Found) texts {
		t := texts{faults: f.Skills.Faults}
		for _, k := range f.Skills.Skills {
			t.files = append(t.files, text{k.Name, k.Origin, k.Faults})
		}
		for _, h := range f.Skills.Hidden {
			t.hidden = append(t.hidden, definition.Hidden(h))
		}
		return t
	}
	v.add(&g, of(v.all), of(v.found))
	return g
}

// ignoredLines returns warnings about the ignored keys and the faults of a definition.
func ignoredLines(ignored []definition.Ignored, faults []string) []string {
	var lines []string
	for _, i := range ignored {
		lines = append(lines, i.Key+": "+i.Why)
	}
	return append(lines, faults...)
}
