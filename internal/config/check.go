package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-dev/pawl/internal/humanize"
)

// CheckUser returns all findings about a configuration file of the user. If the file can
// be parsed, more adds findings about values that this package cannot check; it names
// their keys as a.b.0.
func CheckUser(path string, more func(User) []Finding) []Finding {
	text, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var doc document
	if err == nil {
		doc, err = parseDocument(text)
	}
	if err != nil {
		return []Finding{{Level: LevelError, File: path, Message: err.Error()}}
	}
	u, findings, err := decodeUser(text)
	failed := slices.ContainsFunc(findings, func(f Finding) bool { return f.Level == LevelError })
	if err != nil && !failed {
		findings = append(findings, Finding{Level: LevelError, Message: err.Error()})
	}
	if err == nil {
		settings := settingsOf(&doc.root, reflect.TypeFor[User](), nil, path)
		findings = append(findings, checkValues(settings)...)
		findings = append(findings, checkMode(path, settings)...)
		if err := u.replace(filepath.Dir(path)); err != nil {
			findings = append(findings, replaceFindings(err)...)
		}
		findings = append(findings, more(u)...)
	}
	return locate(findings, path, doc)
}

// locate sets the positions of findings by their keys, and sorts them.
func locate(findings []Finding, path string, doc document) []Finding {
	for i := range findings {
		f := &findings[i]
		f.File = path
		if f.Line > 0 || f.Key == "" {
			continue
		}
		if v := doc.root.Find(pointer(strings.Split(f.Key, "."))); v != nil {
			f.Line, f.Column = doc.position(v.StartOffset)
		}
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return findings
}

// checkValues finds invalid values, and placeholders in keys that do not support them.
func checkValues(settings []Setting) (findings []Finding) {
	for _, s := range settings {
		k, _ := keyOf(strings.Split(s.Key, "."))
		switch {
		case k.values != nil && !slices.Contains(k.values, s.Text()):
			findings = append(findings, Finding{Level: LevelError, Key: s.Key, Message: fmt.Sprintf("%s is %q: use %s", s.Key, s.Text(), humanize.Join(k.values, "or"))})
		case !k.replaced && placeholder.MatchString(s.Text()):
			findings = append(findings, Finding{Level: LevelWarning, Key: s.Key, Message: s.Key + " contains {env:…} or {file:…}, which is not expanded in this key"})
		}
	}
	return findings
}

// replaceFindings returns a finding for each placeholder that cannot be resolved.
func replaceFindings(err error) (findings []Finding) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		key, _, _ := strings.Cut(line, ": ")
		findings = append(findings, Finding{Level: LevelError, Key: key, Message: line})
	}
	return findings
}

// checkMode warns about a file with secrets that others can read.
func checkMode(path string, settings []Setting) []Finding {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	i := slices.IndexFunc(settings, func(s Setting) bool { return strings.Contains(s.Text(), masked) })
	if i < 0 {
		return nil
	}
	return []Finding{{Level: LevelWarning, Key: settings[i].Key, Message: fmt.Sprintf("%s may be secret, and other users can read the file (%s): run `chmod 600 %s`, or use {env:NAME}", settings[i].Key, info.Mode(), path)}}
}

// CheckProject returns all findings about a project's configuration file. more adds
// findings about its rules.
func CheckProject(read func(name string) ([]byte, error), more func(Project) []Finding) (findings []Finding) {
	var doc document
	p, ignored, err := LoadProject(func(name string) ([]byte, error) {
		text, err := read(name)
		if err == nil {
			doc, err = parseDocument(text)
		}
		return text, err
	})
	if err != nil {
		return []Finding{{Level: LevelError, File: ProjectFile, Message: err.Error()}}
	}
	for _, i := range ignored {
		findings = append(findings, Finding{Level: LevelWarning, Key: i.Key, Message: i.Key + " is ignored: " + i.Why})
	}
	return locate(append(findings, more(p)...), ProjectFile, doc)
}
