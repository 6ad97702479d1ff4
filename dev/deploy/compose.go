package main

import (
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

type composeFile struct {
	Services map[string]composeService
	Networks map[string]struct{ Internal bool }
	Volumes  map[string]any
}

type composeService struct {
	Image       string
	Build       map[string]string
	Command     []string
	Environment map[string]string
	Networks    yaml.Node // a list of names, or a map keyed by name
	Volumes     []string
	Depends     map[string]any `yaml:"depends_on"`
}

var composeVariable = regexp.MustCompile(`\$\{([A-Z_]+)`)

// composeFaults checks the compose.yaml of a directory.
func composeFaults(root fs.FS) ([]string, error) {
	text, err := fs.ReadFile(root, "compose.yaml")
	if err != nil {
		return nil, err
	}
	var f composeFile
	if err := yaml.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("compose.yaml: %w", err)
	}
	example, err := fs.ReadFile(root, "compose/env.example")
	if err != nil {
		return nil, err
	}
	l := &list{what: "compose.yaml"}
	for _, m := range composeVariable.FindAllStringSubmatch(string(text), -1) {
		l.want(strings.Contains("\n"+string(example), "\n"+m[1]+"="), "compose/env.example does not have %s", m[1])
	}
	all := l.all
	for _, name := range slices.Sorted(maps.Keys(f.Services)) {
		faults, err := f.serviceFaults(root, name)
		if err != nil {
			return nil, err
		}
		all = append(all, faults...)
	}
	return all, nil
}

func (f composeFile) serviceFaults(root fs.FS, name string) ([]string, error) {
	s, l := f.Services[name], &list{what: "compose.yaml: " + name}
	l.want(s.Build != nil || strings.Contains(s.Image, ":"), "its image has no version")
	for other := range s.Depends {
		_, ok := f.Services[other]
		l.want(ok, "it depends on %s, which is not there", other)
	}
	for _, v := range s.Volumes {
		from, _, _ := strings.Cut(v, ":")
		_, ok := f.Volumes[from]
		if path, local := strings.CutPrefix(from, "./"); local {
			_, err := fs.Stat(root, path)
			ok = err == nil
		}
		l.want(ok, "the volume %s is not there", from)
	}
	networks, err := names(s.Networks)
	if err != nil {
		return nil, fmt.Errorf("compose.yaml: %s: networks: %w", name, err)
	}
	l.want(len(networks) > 0, "it is on no network of ours")
	executor := strings.Contains(strings.Join(s.Command, " "), "--role executor")
	for _, n := range networks {
		network, ok := f.Networks[n]
		l.want(ok, "the network %s is not there", n)
		l.want(!executor || network.Internal, "an executor is on %s, which leads out", n)
	}
	for variable := range s.Environment {
		l.want(!executor || !strings.HasSuffix(variable, "_API_KEY"), "an executor has %s", variable)
	}
	l.want(!executor || s.Environment["PAWL_HOST"] == name, "PAWL_HOST is not its name")
	return l.all, nil
}

// names decodes a list of names, or the keys of a map.
func names(n yaml.Node) ([]string, error) {
	if n.Kind == yaml.MappingNode {
		var m map[string]any
		err := n.Decode(&m)
		return slices.Sorted(maps.Keys(m)), err
	}
	var l []string
	if n.IsZero() {
		return nil, nil
	}
	err := n.Decode(&l)
	return l, err
}
