package inventory

import (
	"encoding/json"
	"errors"
	"strings"
)

// jestReport is what jest writes with --json, and vitest with --reporter=json.
type jestReport struct {
	TestResults *[]struct {
		Name             string // the file
		Status           string
		AssertionResults []struct {
			FullName        string
			Status          string
			FailureMessages []string
		}
	}
}

func readJest(text []byte, root string) (*Inventory, error) {
	var r jestReport
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	if r.TestResults == nil {
		return nil, errors.New("testResults is missing")
	}
	v := empty()
	for _, file := range *r.TestResults {
		name := strings.TrimPrefix(file.Name, root)
		if len(file.AssertionResults) == 0 && file.Status != "passed" {
			v.Broken = append(v.Broken, name)
		}
		for _, t := range file.AssertionResults {
			key := v.add(name, t.FullName, jestStatus(t.Status))
			if len(t.FailureMessages) > 0 {
				v.Messages[key] = t.FailureMessages[0]
			}
		}
	}
	return v, nil
}

func jestStatus(s string) Status {
	switch s {
	case "passed":
		return Passed
	case "pending", "skipped", "todo", "disabled":
		return Skipped
	default:
		return Failed
	}
}
