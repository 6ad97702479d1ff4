// Package sarif writes SARIF 2.1.0, the format of code scanners.
package sarif

import (
	"net/url"
	"slices"
	"strings"
)

// Report is what a scan found.
type Report struct {
	Version string // of pawl
	Run     string // name of the scan, e.g. "pawl-review"
	Rules   []Rule
	Results []Result
	// Notices are results without a place in a file.
	Notices []Result
}

// Rule is a kind of result.
type Rule struct{ ID, About, Help string }

// Result is something that a rule found.
type Result struct {
	Rule    string
	Level   string // note, warning or error
	Message string

	Path               string
	StartLine, EndLine int    // 0 means the whole file
	Fingerprint        string // stays the same in later scans
}

type (
	document struct {
		Schema  string `json:"$schema"`
		Version string `json:"version"`
		Runs    []run  `json:"runs"`
	}
	run struct {
		Tool        tool         `json:"tool"`
		Automation  automation   `json:"automationDetails"`
		Invocations []invocation `json:"invocations,omitempty"`
		ColumnKind  string       `json:"columnKind"`
		Results     []result     `json:"results"`
	}
	tool struct {
		Driver driver `json:"driver"`
	}
	driver struct {
		Name           string `json:"name"`
		Version        string `json:"version"`
		InformationURI string `json:"informationUri"`
		Rules          []rule `json:"rules"`
	}
	rule struct {
		ID    string  `json:"id"`
		Short message `json:"shortDescription"`
		Full  message `json:"fullDescription"`
		Help  message `json:"help"`
	}
	automation struct {
		ID string `json:"id"`
	}
	message struct {
		Text string `json:"text"`
	}
	invocation struct {
		Successful    bool           `json:"executionSuccessful"`
		Notifications []notification `json:"toolExecutionNotifications"`
	}
	notification struct {
		Rule    reference `json:"associatedRule"`
		Level   string    `json:"level"`
		Message message   `json:"message"`
	}
	reference struct {
		ID    string `json:"id"`
		Index int    `json:"index"`
	}
	result struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      message           `json:"message"`
		Locations    []location        `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	location struct {
		Physical physical `json:"physicalLocation"`
	}
	physical struct {
		Artifact artifact `json:"artifactLocation"`
		Region   region   `json:"region"`
	}
	artifact struct {
		URI string `json:"uri"`
	}
	region struct {
		StartLine int `json:"startLine"`
		EndLine   int `json:"endLine"`
	}
)

// fingerprintKey names the method of the fingerprints. GitHub's own key is left to the upload action, which hashes the
// whole file.
const fingerprintKey = "pawlFinding/v1"

// Document returns the report for encoding/json. Rules get the prefix "pawl".
func (r Report) Document() any {
	d := run{
		Tool:       tool{driver{Name: "pawl", Version: r.Version, InformationURI: "https://github.com/pawl-dev/pawl", Rules: []rule{}}},
		Automation: automation{r.Run + "/"}, ColumnKind: "utf16CodeUnits", Results: []result{},
	}
	for _, s := range r.Rules {
		d.Tool.Driver.Rules = append(d.Tool.Driver.Rules, rule{"pawl/" + s.ID, message{s.About}, message{s.About}, message{s.About + " " + s.Help}})
	}
	for _, f := range r.Results {
		d.Results = append(d.Results, r.result(f))
	}
	if len(r.Notices) > 0 {
		d.Invocations = []invocation{{Successful: true}}
		for _, f := range r.Notices {
			d.Invocations[0].Notifications = append(d.Invocations[0].Notifications, notification{reference{"pawl/" + f.Rule, r.index(f)}, f.Level, message{unlinked(f.Message)}})
		}
	}
	return document{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []run{d}}
}

func (r Report) index(f Result) int {
	return max(0, slices.IndexFunc(r.Rules, func(s Rule) bool { return s.ID == f.Rule }))
}

func (r Report) result(f Result) result {
	index := r.index(f)
	return result{
		RuleID: "pawl/" + r.Rules[index].ID, RuleIndex: index, Level: f.Level, Message: message{unlinked(f.Message)},
		Locations: []location{{physical{
			Artifact: artifact{(&url.URL{Path: f.Path}).String()},    // escapes the path
			Region:   region{max(1, f.StartLine), max(1, f.EndLine)}, // the format requires a region
		}}},
		Fingerprints: map[string]string{fingerprintKey: f.Fingerprint},
	}
}

// unlinked removes links from a message: [text](address) is a link in SARIF.
func unlinked(text string) string { return strings.ReplaceAll(text, "](", "] (") }
