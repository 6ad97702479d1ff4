package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/strictjson"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// definition describes a tool with a typed input.
type definition[In any] struct {
	name        string
	description string
	risk        toolapi.Risk
	access      func(call toolapi.Call, in In) ([]pawl.Access, error)
	preview     func(ctx context.Context, call toolapi.Call, in In) (string, error) // nil means none
	onView      func(in In) bool                                                    // nil means never
	run         func(ctx context.Context, call toolapi.Call, in In) (pawl.Result, error)
}

// define returns a tool whose JSON schema is derived from its input type.
// Input that does not match the schema never reaches access or run: the error
// names the field, so that the model can correct itself.
func define[In any](d definition[In]) toolapi.Tool {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("define tool %s: %v", d.name, err)) // a bug in the input type, which any test finds
	}
	text, err := json.Marshal(brief(schema.CloneSchemas()))
	if err != nil {
		panic(fmt.Sprintf("define tool %s: %v", d.name, err))
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic(fmt.Sprintf("define tool %s: %v", d.name, err))
	}
	decode := func(input json.RawMessage) (In, error) {
		in, err := decodeInput[In](resolved, input)
		if err != nil {
			return in, fmt.Errorf("wrong input for %s: %w", d.name, err)
		}
		return in, nil
	}
	t := toolapi.Tool{
		Spec: toolapi.Spec{Name: d.name, Description: strings.TrimSpace(d.description), Schema: text},
		Risk: d.risk,
		Access: func(_ context.Context, call toolapi.Call) ([]pawl.Access, error) {
			in, err := decode(call.Input)
			if err != nil {
				return nil, err
			}
			return d.access(call, in)
		},
		Run: func(ctx context.Context, call toolapi.Call) (pawl.Result, error) {
			in, err := decode(call.Input)
			if err != nil {
				return pawl.Result{}, err
			}
			return d.run(ctx, call, in)
		},
	}
	if d.preview != nil {
		t.Preview = func(ctx context.Context, call toolapi.Call) (string, error) {
			in, err := decode(call.Input)
			if err != nil {
				return "", err
			}
			return d.preview(ctx, call, in)
		}
	}
	if d.onView != nil {
		t.OnView = func(call toolapi.Call) bool {
			in, err := decode(call.Input)
			return err == nil && d.onView(in)
		}
	}
	return t
}

// Simple returns a tool without accesses of its own, for packages above this
// one: its effects go through the session. No other call runs at the same
// time.
func Simple[In any](name, description string, run func(ctx context.Context, call toolapi.Call, in In) (pawl.Result, error)) toolapi.Tool {
	t := define(definition[In]{
		name: name, description: description, risk: toolapi.RiskSafe, run: run,
		access: func(toolapi.Call, In) ([]pawl.Access, error) { return nil, nil },
	})
	t.Alone = true
	return t
}

// brief removes from a schema what a model does not need: that additional
// properties are forbidden (the error says so when it matters) and that a list
// may be null. The tool specs are part of every request.
func brief(s *jsonschema.Schema) *jsonschema.Schema {
	s.AdditionalProperties = nil
	if slices.Contains(s.Types, "array") {
		s.Type, s.Types = "array", nil
	}
	for _, p := range s.Properties {
		brief(p)
	}
	if s.Items != nil {
		brief(s.Items)
	}
	return s
}

// decodeInput decodes the input strictly and validates it against the schema.
// A field that is null counts as missing.
func decodeInput[In any](schema *jsonschema.Resolved, input json.RawMessage) (In, error) {
	var in In
	var given map[string]any
	if err := json.Unmarshal(input, &given); err != nil || given == nil {
		return in, errors.New("it is not a JSON object")
	}
	err := strictjson.Decode(input, &in)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return in, fmt.Errorf("the field %q is a %s and must be a %s", wrong.Field, wrong.Value, wrong.Type)
	}
	if err != nil {
		return in, err
	}
	maps.DeleteFunc(given, func(_ string, value any) bool { return value == nil })
	for _, name := range schema.Schema().Required {
		if _, ok := given[name]; !ok {
			return in, fmt.Errorf("the field %q is missing", name)
		}
	}
	return in, schema.Validate(given) // validates nested values
}
