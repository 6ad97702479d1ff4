package responses

import (
	"encoding/json"
	"testing"
)

func TestStrict(t *testing.T) {
	t.Parallel()
	const closed = `"additionalProperties":false`
	tests := []struct {
		name   string
		schema string
		want   bool
	}{
		{"closed", `{"type":"object","properties":{"a":{"type":"string","enum":["x"]}},"required":["a"],` + closed + `}`, true},
		{"no properties", `{"type":"object","properties":{},` + closed + `}`, true},
		{"nullable", `{"type":"object","properties":{"a":{"type":["null","string"]}},"required":["a"],` + closed + `}`, true},
		{"list", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}},"required":["a"],` + closed + `}`, true},
		{"choice", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["a"],` + closed + `}`, true},
		{"named like a keyword", `{"type":"object","properties":{"minimum":{"type":"string"}},"required":["minimum"],` + closed + `}`, true},
		{"optional property", `{"type":"object","properties":{"a":{"type":"string"}},` + closed + `}`, false},
		{"other property required", `{"type":"object","properties":{"a":{"type":"string"}},"required":["b"],` + closed + `}`, false},
		{"open", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, false},
		{"open within", `{"type":"object","properties":{"a":{"type":["object","null"],"properties":{}}},"required":["a"],` + closed + `}`, false},
		{"open in a list", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],` + closed + `}`, false},
		{"open choice", `{"type":"object","properties":{"a":{"anyOf":[{"type":"object"}]}},"required":["a"],` + closed + `}`, false},
		{"list of anything", `{"type":"object","properties":{"a":{"type":"array"}},"required":["a"],` + closed + `}`, false},
		{"anything", `{"type":"object","properties":{"a":{}},"required":["a"],` + closed + `}`, false},
		{"boolean schema", `{"type":"object","properties":{"a":true},"required":["a"],` + closed + `}`, false},
		{"keyword", `{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],` + closed + `}`, false},
		{"no object", `{"type":"string"}`, false},
		{"no schema", `null`, false},
		{"nothing", ``, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strict(json.RawMessage(tt.schema)); got != tt.want {
				t.Errorf("strict is %v, want %v", got, tt.want)
			}
		})
	}
}
