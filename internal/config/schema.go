package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// SchemaURL is where the schema of the user's configuration is published.
const SchemaURL = "https://raw.githubusercontent.com/pawl-dev/pawl/main/docs/schema/config.schema.json"

// Schema returns the JSON Schema of the user's configuration, derived from User.
func Schema() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[User](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
	}})
	if err != nil {
		return nil, err
	}
	neverNull(s)
	s.Schema, s.ID = "https://json-schema.org/draft/2020-12/schema", SchemaURL
	s.Title, s.Description = "pawl.json", "The user's configuration of Pawl. Comments and trailing commas are allowed."
	for _, k := range keys {
		if at := schemaAt(s, strings.Split(k.path, ".")); at != nil {
			at.Description = k.what
			for _, v := range k.values {
				at.Enum = append(at.Enum, v)
			}
		}
	}
	if rules := schemaAt(s, []string{"permissions", "rules"}); rules != nil {
		rules.Type, rules.Items = "array", ruleSchema()
	}
	if options := schemaAt(s, []string{"lsp", "*", "initialization"}); options != nil {
		options.Type = "object"
	}
	s.Properties[schemaKey] = &jsonschema.Schema{Type: "string", Description: "The schema of this file, for editors."}
	return s, nil
}

// SchemaText returns the schema as it is published.
func SchemaText() ([]byte, error) {
	s, err := Schema()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(s)
	return b.Bytes(), err
}

// ruleSchema returns the schema of a permission rule. A test of the command compares it
// with the type of rules, which this package cannot import.
func ruleSchema() *jsonschema.Schema {
	text := func(what string, values ...any) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Description: what, Enum: values}
	}
	list := func(what string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}, Description: what}
	}
	return &jsonschema.Schema{
		Type: "object",
		Properties: map[string]*jsonschema.Schema{
			"tool":      text("The tool that the rule is for."),
			"kind":      text("The kind of access that the pattern matches. Optional if the tool has only one.", "read", "write", "exec", "escape", "net"),
			"pattern":   text("A glob for paths, the words of a command with a trailing * for any arguments, or a host."),
			"decision":  text("The decision for matching calls.", "allow", "ask", "deny"),
			"match":     list("Examples that the rule must match."),
			"not_match": list("Examples that the rule must not match."),
		},
		PropertyOrder:        []string{"tool", "kind", "pattern", "decision", "match", "not_match"},
		Required:             []string{"decision"},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
}

// schemaAt returns the schema of a key, or nil.
func schemaAt(s *jsonschema.Schema, path []string) *jsonschema.Schema {
	for _, part := range path {
		next := s.AdditionalProperties
		if part != "*" {
			next = s.Properties[part]
		}
		if next == nil {
			return nil
		}
		s = next
	}
	return s
}

// neverNull removes null from the types: keys without a value are omitted.
func neverNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if i := slices.Index(s.Types, "null"); i >= 0 && len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1-i], nil
	}
	for _, p := range s.Properties {
		neverNull(p)
	}
	neverNull(s.Items)
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not == nil {
		neverNull(s.AdditionalProperties)
	}
}
