package responses

import (
	"bytes"
	"encoding/json"
	"slices"
)

// node is the part of a JSON schema that decides whether it can be strict.
type node struct {
	Type       json.RawMessage  `json:"type"`
	Properties map[string]*node `json:"properties"`
	Required   []string         `json:"required"`
	Additional json.RawMessage  `json:"additionalProperties"`
	Items      *node            `json:"items"`
	AnyOf      []*node          `json:"anyOf"`

	foreign bool // it has a keyword that may not be supported
}

// keywords are those that all models support in strict schemas.
var keywords = []string{"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "description", "title"}

// UnmarshalJSON also detects unknown keywords.
func (n *node) UnmarshalJSON(data []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for k := range all {
		n.foreign = n.foreign || !slices.Contains(keywords, k)
	}
	type plain node
	return json.Unmarshal(data, (*plain)(n))
}

// strict reports whether the provider can enforce the schema strictly. For that it requires closed objects
// without optional properties, and rejects other schemas.
func strict(schema json.RawMessage) bool {
	var root node
	return json.Unmarshal(schema, &root) == nil && string(root.Type) == `"object"` && root.strict()
}

func (n *node) strict() bool {
	if n == nil {
		return true
	}
	if n.foreign || n.Type == nil && n.AnyOf == nil {
		return false
	}
	object, array := bytes.Contains(n.Type, []byte(`"object"`)), bytes.Contains(n.Type, []byte(`"array"`))
	if object && (n.Properties == nil || string(n.Additional) != "false") || array && n.Items == nil {
		return false
	}
	for key, property := range n.Properties {
		if property == nil || !slices.Contains(n.Required, key) || !property.strict() {
			return false
		}
	}
	return n.Items.strict() && !slices.ContainsFunc(n.AnyOf, func(n *node) bool { return n == nil || !n.strict() })
}
