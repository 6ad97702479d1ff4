package main

import (
	"fmt"
	"slices"
	"strings"
)

// step is a command of the plan.
type step struct {
	name    string
	after   []string // steps that must have passed
	command string   // for the shell
}

// parse reads a plan. Steps may only come after steps above them, so that a plan has no cycles.
func parse(text string) ([]step, error) {
	var steps []step
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		head, command, ok := strings.Cut(line, ": ")
		words := strings.Fields(head)
		if !ok || len(words) == 0 {
			return nil, fmt.Errorf("line %d: want \"name: command\"", n+1)
		}
		s := step{name: words[0], command: strings.TrimSpace(command)}
		for _, word := range words[1:] {
			list, isAfter := strings.CutPrefix(word, "after=")
			if !isAfter {
				return nil, fmt.Errorf("line %d: unknown word %q", n+1, word)
			}
			s.after = strings.Split(list, ",")
		}
		for _, name := range s.after {
			if find(steps, name) < 0 {
				return nil, fmt.Errorf("line %d: %s comes after %s, which is not above it", n+1, s.name, name)
			}
		}
		if find(steps, s.name) >= 0 {
			return nil, fmt.Errorf("line %d: %s already exists", n+1, s.name)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// choose returns the named steps in the order of the plan. They depend only on each
// other.
func choose(steps []step, names []string) ([]step, error) {
	var chosen []step
	for _, s := range steps {
		if !slices.Contains(names, s.name) {
			continue
		}
		s.after = slices.DeleteFunc(slices.Clone(s.after), func(name string) bool { return !slices.Contains(names, name) })
		chosen = append(chosen, s)
	}
	for _, name := range names {
		if find(chosen, name) < 0 {
			return nil, fmt.Errorf("unknown step %q", name)
		}
	}
	return chosen, nil
}

func find(steps []step, name string) int {
	return slices.IndexFunc(steps, func(s step) bool { return s.name == name })
}
