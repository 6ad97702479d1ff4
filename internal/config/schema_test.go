package config

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

const schemaFile = "../../docs/schema/config.schema.json"

// TestSchemaIsPublished: the copy for editors is that of this program.
func TestSchemaIsPublished(t *testing.T) {
	t.Parallel()
	text, err := SchemaText()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(schemaFile, text, 0o644); err != nil { //nolint:gosec // it is published
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(schemaFile)
	if diff := cmp.Diff(string(want), string(text)); diff != "" || err != nil {
		t.Errorf("'go test ./internal/config -update' writes it anew: %v %s", err, diff)
	}
}

// TestEveryKeyIsDescribed: each key of User is in the schema, with a description.
func TestEveryKeyIsDescribed(t *testing.T) {
	t.Parallel()
	s, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	var walk func(typ reflect.Type, path []string)
	walk = func(typ reflect.Type, path []string) {
		switch typ.Kind() {
		case reflect.Pointer:
			walk(typ.Elem(), path)
			return
		case reflect.Struct:
			for _, name := range fieldNames(typ) {
				field, _ := fieldOf(typ, name)
				at := append(append([]string{}, path...), name)
				seen++
				if k := schemaAt(s, at); k == nil || k.Description == "" {
					t.Errorf("%s has no description: add it to keys in keys.go", strings.Join(at, "."))
				}
				walk(field, at)
			}
		case reflect.Map:
			walk(typ.Elem(), append(append([]string{}, path...), "*"))
		}
	}
	walk(reflect.TypeFor[User](), nil)
	if seen < 15 {
		t.Errorf("only %d keys", seen)
	}
}

var example = regexp.MustCompile("(?s)```jsonc?\n(.*?)```")

// TestSchemaAcceptsTheGuide: what the guide shows is right by the schema and is
// read without a word; what is wrong is wrong by both.
func TestSchemaAcceptsTheGuide(t *testing.T) {
	s, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	schema, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	accepts := func(text string) error {
		plain, err := standard([]byte(text))
		if err != nil {
			return err
		}
		var v any
		if err := json.Unmarshal(plain, &v); err != nil {
			return err
		}
		return schema.Validate(v)
	}
	guide, err := os.ReadFile("../../docs/reference/config.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := example.FindAllStringSubmatch(string(guide), -1)
	if len(examples) == 0 {
		t.Fatal("the guide has no examples")
	}
	t.Setenv("HOME", "/home/u")
	for _, m := range examples {
		if _, findings, err := decodeUser([]byte(m[1])); accepts(m[1]) != nil || err != nil || findings != nil {
			t.Errorf("%s\n%v, %v, %v", m[1], accepts(m[1]), err, findings)
		}
	}
	for _, text := range []string{`{"model":1}`, `{"modell":"x"}`, `{"permissions":{"mode":"all"}}`, `{"permissions":{"rules":[{"kind":"net"}]}}`, `{"sandbox":null}`, `[]`, `{"lsp":{"gopls":{"initialization":1}}}`, `{"lsp":{"gopls":{"comand":"x"}}}`, `{"providers":{"a":{"headers":{"b":1}}}}`} {
		if accepts(text) == nil {
			t.Errorf("the schema accepts %s", text)
		}
	}
	if err := accepts(`{"lsp":{"gopls":{"command":"/x","args":[],"extensions":[".go"],"env":{"A":"b"},"initialization":{"a":1},"disabled":false}}}`); err != nil {
		t.Error(err)
	}
	if err := accepts(`{"$schema":"x","permissions":{"mode":"guard","rules":[{"kind":"net","decision":"deny"}]}}`); err != nil {
		t.Error(err)
	}
}
