package review

import (
	"net/url"
	"strings"
)

// The parts of SARIF 2.1.0 that a report needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		Automation sarifID       `json:"automationDetails"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Full  sarifText `json:"fullDescription"`
		Help  sarifText `json:"help"`
	}
	sarifID struct {
		ID string `json:"id"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        Severity          `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPlace `json:"physicalLocation"`
	}
	sarifPlace struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
		EndLine   int `json:"endLine"`
	}
)

// fingerprintKey names the method of Fingerprint. GitHub's own key is left to the upload action, which hashes
// the whole file.
const fingerprintKey = "pawlFinding/v1"

// sarifRules are the rules with the prefix "pawl".
func sarifRules() []sarifRule {
	list := make([]sarifRule, len(rules))
	for i, r := range rules {
		list[i] = sarifRule{ID: "pawl/" + r.id, Short: sarifText{r.about}, Full: sarifText{r.about}, Help: sarifText{r.about + " See `pawl review --help`."}}
	}
	return list
}

// SARIF returns the report as SARIF 2.1.0, the format of code scanners.
func (r Report) SARIF(version string) any {
	run := sarifRun{
		Tool:       sarifTool{sarifDriver{Name: "pawl", Version: version, InformationURI: "https://github.com/pawl-dev/pawl", Rules: sarifRules()}},
		Automation: sarifID{"pawl-review/"}, ColumnKind: "utf16CodeUnits", Results: []sarifResult{},
	}
	for _, f := range r.Findings {
		run.Results = append(run.Results, f.sarif())
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

func (f Finding) sarif() sarifResult {
	index := 0
	for i, r := range rules {
		if r.id == f.Rule {
			index = i
		}
	}
	text := f.Title + "\n\n" + f.Message
	if f.Suggestion != "" {
		text += "\n\nInstead: " + f.Suggestion
	}
	return sarifResult{
		RuleID: "pawl/" + rules[index].id, RuleIndex: index, Level: f.Severity, Message: sarifText{unlinked(text)},
		Locations: []sarifLocation{{sarifPlace{
			Artifact: sarifArtifact{(&url.URL{Path: f.Path}).String()},    // escapes the path
			Region:   sarifRegion{max(1, f.StartLine), max(1, f.EndLine)}, // the format requires a region
		}}},
		Fingerprints: map[string]string{fingerprintKey: f.Fingerprint},
	}
}

// unlinked removes links from a message: [text](address) is a link in SARIF.
func unlinked(text string) string { return strings.ReplaceAll(text, "](", "] (") }
