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
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

// definition is a tool with a typed input.
type definition[In any] struct {
	name        string
	description string
	risk        toolapi.Risk
	access      func(call toolapi.Call, in In) ([]pawl.Access, error)
	preview     func(ctx context.Context, call toolapi.Call, in In) (string, error) // nil means none
	run         func(ctx context.Context, call toolapi.Call, in In) (pawl.Result, error)
}

// define makes a tool whose schema is read off its input type. Input that does
// not match the schema never reaches access or run: the error names the field,
// so that the model can correct itself.
func define[In any](d definition[In]) toolapi.Tool {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("define tool %s: %v", d.name, err)) // its input type is wrong: a bug that any test finds
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
		Risk:     d.risk,
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
	return t
}

// Simple makes a tool that touches nothing itself, for the rooms above: what it
// does goes through its session. No other call runs beside it.
func Simple[In any](name, description string, run func(ctx context.Context, call toolapi.Call, in In) (pawl.Result, error)) toolapi.Tool {
	t := define(definition[In]{
		name: name, description: description, risk: toolapi.RiskSafe, run: run,
		access: func(toolapi.Call, In) ([]pawl.Access, error) { return nil, nil },
	})
	t.Alone = true
	return t
}

// brief leaves out of a schema what a model need not be told: that nothing else
// is allowed, which the error says when it matters, and that a list may be null.
// The tools are part of every request.
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

// decodeInput decodes strictly and checks the input against the schema. A field
// that is null counts as left out.
func decodeInput[In any](schema *jsonschema.Resolved, input json.RawMessage) (In, error) {
	var in In
	var given map[string]any
	if err := json.Unmarshal(input, &given); err != nil || given == nil {
		return in, errors.New("it is not a JSON object")
	}
	err := pawl.Decode(input, &in)
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
	return in, schema.Validate(given) // what is nested
}
