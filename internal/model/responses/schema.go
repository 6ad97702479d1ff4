package responses

import (
	"bytes"
	"encoding/json"
	"slices"
)

// node is what of a JSON schema decides whether it may be strict.
type node struct {
	Type       json.RawMessage  `json:"type"`
	Properties map[string]*node `json:"properties"`
	Required   []string         `json:"required"`
	Additional json.RawMessage  `json:"additionalProperties"`
	Items      *node            `json:"items"`
	AnyOf      []*node          `json:"anyOf"`

	foreign bool // it has a keyword that is not known to be taken
}

// keywords are those that strict schemas may have. There are more, which hold
// for some models only.
var keywords = []string{"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "description", "title"}

// UnmarshalJSON also looks for keywords that are not known.
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

// strict reports whether the provider can hold the model to the schema to the
// letter. It then insists on closed objects without optional properties, and
// refuses a request with any other.
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
