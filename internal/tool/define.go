package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-dev/pawl"
)

// definition is a tool with a typed input.
type definition[In any] struct {
	name        string
	description string
	risk        pawl.Risk
	access      func(call pawl.Call, in In) ([]pawl.Access, error)
	run         func(ctx context.Context, call pawl.Call, in In) (pawl.Result, error)
}

// define makes a tool whose schema is read off its input type. Input that does
// not match the schema never reaches access or run: the error names the field,
// so that the model can correct itself.
func define[In any](d definition[In]) pawl.Tool {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("define tool %s: %v", d.name, err)) // its input type is wrong: a bug that any test finds
	}
	text, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("define tool %s: %v", d.name, err))
	}
	decode := func(input json.RawMessage) (In, error) {
		in, err := decodeInput[In](schema, input)
		if err != nil {
			return in, fmt.Errorf("wrong input for %s: %w", d.name, err)
		}
		return in, nil
	}
	return pawl.Tool{
		ToolSpec: pawl.ToolSpec{Name: d.name, Description: strings.TrimSpace(d.description), Schema: text},
		Risk:     d.risk,
		Access: func(_ context.Context, call pawl.Call) ([]pawl.Access, error) {
			in, err := decode(call.Input)
			if err != nil {
				return nil, err
			}
			return d.access(call, in)
		},
		Run: func(ctx context.Context, call pawl.Call) (pawl.Result, error) {
			in, err := decode(call.Input)
			if err != nil {
				return pawl.Result{}, err
			}
			return d.run(ctx, call, in)
		},
	}
}

// decodeInput decodes strictly and checks that no required field is missing.
// A field that is null counts as left out.
func decodeInput[In any](schema *jsonschema.Schema, input json.RawMessage) (In, error) {
	var in In
	var given map[string]json.RawMessage
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
	for _, name := range schema.Required {
		if value, ok := given[name]; !ok || string(value) == "null" {
			return in, fmt.Errorf("the field %q is missing", name)
		}
	}
	return in, nil
}
