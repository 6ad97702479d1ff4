package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/suggest"
)

// Entry is a user's configuration of a server. Fields that are not set keep
// the built-in values.
type Entry struct {
	Command        string            // name or absolute path
	Args           []string          // nil keeps the arguments
	Extensions     []string          // such as .go, or whole file names such as Makefile
	Env            map[string]string // added to the environment of every server
	Initialization json.RawMessage   // an object: initialization options, merged over the built-in ones
	Disabled       bool              // the server is not used
}

// Configure returns the table with the user's configuration applied. Servers
// that are not built in come first, so that they are preferred for their
// files. An error names the entry and says how to correct it.
func Configure(table []Spec, entries map[string]Entry) ([]Spec, error) {
	var added []Spec
	known := names(table)
	table = slices.Clone(table)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		i := slices.IndexFunc(table, func(s Spec) bool { return s.Name == name })
		spec := Spec{Name: name, Install: "see lsp." + name + " in your configuration"}
		if i >= 0 {
			spec = table[i]
		}
		if err := e.check(spec); err != nil {
			return nil, fault.New(pawl.ErrInvalid, "lsp.%.80s: %w%s", name, err, ask(i < 0, name, known))
		}
		switch spec = e.apply(spec, table); {
		case i < 0 && !e.Disabled:
			added = append(added, spec)
		case i >= 0 && e.Disabled:
			table = slices.Delete(table, i, i+1)
		case i >= 0:
			table[i] = spec
		}
	}
	return append(added, table...), nil
}

func names(table []Spec) []string {
	list := make([]string, len(table))
	for i, s := range table {
		list[i] = s.Name
	}
	return list
}

func ask(unknown bool, name string, known []string) string {
	if !unknown {
		return ""
	}
	return suggest.Ask("", name, known)
}

// check returns an error if the entry is not valid for a server.
func (e Entry) check(s Spec) error {
	if len(s.Files) == 0 && len(e.Extensions) == 0 {
		return errors.New(`pawl knows no server of this name: say for which files it is, e.g. "extensions": [".x"]`)
	}
	if strings.ContainsRune(e.Command, filepath.Separator) && !filepath.IsAbs(e.Command) {
		return fmt.Errorf("command is %.80q: use the name of a program, or its absolute path", e.Command)
	}
	if strings.ContainsRune(s.Name+e.Command, 0) || strings.ContainsRune(s.Name, filepath.Separator) && e.Command == "" {
		return errors.New("command: missing, and the name is not a program in PATH")
	}
	for _, end := range e.Extensions {
		if strings.Trim(end, ".") == "" || strings.ContainsRune(end, filepath.Separator) || end[0] == '.' && filepath.Ext(end) != end {
			return fmt.Errorf("extensions: %.40q is neither an extension such as .x nor a file name such as Makefile", end)
		}
	}
	for name, value := range e.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
			return fmt.Errorf("env: %.40q is not a valid variable name, or its value contains a zero byte", name)
		}
	}
	if _, ok := e.Env["PATH"]; ok {
		return errors.New("env: PATH is that of pawl, without what is in the workspace: take it out, and name the program by its absolute path")
	}
	var object map[string]any
	if e.Initialization != nil && json.Unmarshal(e.Initialization, &object) != nil {
		return errors.New("initialization must be an object")
	}
	return nil
}

// apply returns the server with a valid entry applied.
func (e Entry) apply(s Spec, table []Spec) Spec {
	if e.Command != "" {
		s.Program = e.Command
	}
	if e.Args != nil {
		s.Args = e.Args
	}
	if len(e.Extensions) > 0 {
		was := s.Files
		s.Files, s.Marked = map[string]string{}, false
		for _, end := range e.Extensions {
			s.Files[end] = languageOf(end, append([]Spec{{Files: was}}, table...))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		s.Env = append(slices.Clip(s.Env), name+"="+e.Env[name])
	}
	if e.Initialization != nil {
		s.Options = e.options(s.Options)
	}
	return s
}

// options merges the options of the entry over those of the server.
func (e Entry) options(own func(string) (any, error)) func(string) (any, error) {
	return func(program string) (any, error) {
		all := map[string]any{}
		if own != nil {
			had, err := own(program)
			if err != nil {
				return nil, err
			}
			if m, ok := had.(map[string]any); ok {
				maps.Copy(all, m)
			}
		}
		var mine map[string]any
		if err := json.Unmarshal(e.Initialization, &mine); err != nil {
			return nil, err
		}
		maps.Copy(all, mine)
		return all, nil
	}
}

// languageOf returns the language id for a file name extension: that of the
// first server with this extension, or else the extension itself.
func languageOf(end string, table []Spec) string {
	for _, s := range table {
		if id := s.Files[end]; id != "" {
			return id
		}
	}
	return strings.ToLower(strings.TrimPrefix(end, "."))
}

// Installed is a server whose program is installed.
type Installed struct {
	Spec
	Path string
}

// Look returns the servers of a table that are installed, according to the
// search path. It starts none.
func Look(table []Spec, dir, path string) []Installed {
	var found []Installed
	for _, s := range table {
		if at, err := find(s.program(), dir, path); err == nil {
			found = append(found, Installed{s, at})
		}
	}
	return found
}
