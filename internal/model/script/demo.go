package script

import (
	_ "embed" // the script of the demonstration
	"fmt"
	"sync"
)

// DemoRef is the ref of the demonstration: a script that is part of the program.
const DemoRef = "demo"

//go:embed demo.jsonl
var demoText string

// Demo returns the demonstration. It shows a turn with a todo list, a new file and two commands; its last
// reply repeats.
var Demo = sync.OnceValues(func() (*Model, error) {
	replies, err := parseText(DemoRef, demoText, nil)
	if err != nil {
		return nil, fmt.Errorf("open the demonstration: %w", err)
	}
	m, err := build(DemoRef, replies, nil)
	if err != nil {
		return nil, fmt.Errorf("open the demonstration: %w", err)
	}
	m.main.repeats = true
	return m, nil
})
