package inventory

import (
	"encoding/json"
	"errors"
	"strings"
)

// rspecReport is what rspec writes with --format json.
type rspecReport struct {
	Examples *[]struct {
		FullDescription string `json:"full_description"`
		Status          string
		FilePath        string `json:"file_path"`
		Exception       *struct{ Class, Message string }
	}
	Summary struct {
		Outside int `json:"errors_outside_of_examples_count"`
	}
	Messages []string
}

func readRSpec(text []byte, _ string) (*Inventory, error) {
	var r rspecReport
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if r.Examples == nil {
		return nil, errors.New("examples is missing")
	}
	v := empty()
	for _, e := range *r.Examples {
		status := map[string]Status{"passed": Passed, "pending": Skipped}[e.Status]
		if status == "" {
			status = Failed
		}
		key := v.add(strings.TrimPrefix(e.FilePath, "./"), e.FullDescription, status)
		if e.Exception != nil && status == Failed {
			v.Messages[key] = e.Exception.Class + ": " + e.Exception.Message
		}
	}
	if r.Summary.Outside > 0 {
		v.Broken = append(v.Broken, "a file outside of examples")
	}
	return v, nil
}
