package pawl

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/strictjson"
)

var update = flag.Bool("update", false, "write the golden files anew")

const goldenEvents = "testdata/events.golden.jsonl"

// TestEventsGolden compares with the golden file, the stable format that logs,
// exports and clients rely on. A line may only change together with its version and
// an upcast.
func TestEventsGolden(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	for _, e := range samples() {
		line, err := strictjson.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		got.Write(append(line, '\n'))
	}
	if *update {
		if err := os.WriteFile(goldenEvents, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenEvents)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("%s differs; see -update: %s", goldenEvents, diff)
	}

	var events []Event
	for line := range bytes.Lines(want) {
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if diff := cmp.Diff(samples(), events); diff != "" {
		t.Errorf("decoded: %s", diff)
	}
}

// TestSamplesCoverAll checks that the samples, and thus the golden file, have every
// kind and every field.
func TestSamplesCoverAll(t *testing.T) {
	t.Parallel()
	kinds, parts := map[Kind]bool{}, map[string]bool{}
	for _, e := range samples() {
		kinds[KindOf(e.Body)] = true
		checkAllSet(t, string(KindOf(e.Body)), reflect.ValueOf(e), parts)
	}
	for _, k := range Kinds() {
		if !kinds[k] {
			t.Errorf("no sample of kind %s: its stable form would be untested", k)
		}
	}
	for name := range partTypes {
		if !parts[name] {
			t.Errorf("no sample of part type %s: its stable form would be untested", name)
		}
	}
}

// checkAllSet fails for each field that is zero, and records the types of the parts
// on the way.
func checkAllSet(t *testing.T, path string, v reflect.Value, parts map[string]bool) {
	if v.IsZero() {
		t.Errorf("%s is not set in its sample: its key would be untested", path)
		return
	}
	if p, ok := v.Interface().(Part); ok {
		parts[p.partType()] = true
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		checkAllSet(t, path, v.Elem(), parts)
	case reflect.Slice:
		for i := range v.Len() {
			if v.Type().Elem().Kind() != reflect.Uint8 {
				checkAllSet(t, path, v.Index(i), parts)
			}
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			if f.IsExported() && !f.Anonymous {
				checkAllSet(t, path+"."+f.Name, v.FieldByIndex(f.Index), parts)
			}
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		parts Parts
		json  string
	}{
		{"none", Parts{}, `[]`},
		{"no fields set", Parts{Reasoning{}, Text{}}, `[{"type":"reasoning"},{"type":"text","text":""}]`},
		{"what code is full of", Parts{Text{"a<b && c>d"}}, `[{"type":"text","text":"a<b && c>d"}]`},
		{
			"an input with a key twice is the tool's to refuse",
			Parts{ToolCall{ID: "c", Name: "read", Input: json.RawMessage(`{"path":"a","path":{"b":1,"b":2}}`)}},
			`[{"type":"tool_call","id":"c","name":"read","input":{"path":"a","path":{"b":1,"b":2}}}]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := strictjson.Encode(tt.parts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.json, string(data)); diff != "" {
				t.Errorf("encoded: %s", diff)
			}
			var got Parts
			if err := strictjson.Decode(data, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.parts, got); diff != "" {
				t.Errorf("decoded: %s", diff)
			}
		})
	}
}

func TestDurable(t *testing.T) {
	t.Parallel()
	var unsaved []string
	for _, k := range Kinds() {
		if !k.Durable() {
			unsaved = append(unsaved, string(k))
		}
	}
	slices.Sort(unsaved)
	if diff := cmp.Diff([]string{"delta", "progress", "status"}, unsaved); diff != "" {
		t.Error(diff)
	}
	if Kind("no such kind").Durable() {
		t.Error("an unknown kind passes for durable")
	}
}
