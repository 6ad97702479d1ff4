package api

import (
	"flag"
	"os"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

var update = flag.Bool("update", false, "write the document anew")

const published = "../../docs/schema/openapi.json"

// TestOpenAPIIsPublished checks that the document in docs is the one that is served.
func TestOpenAPIIsPublished(t *testing.T) {
	t.Parallel()
	text, err := OpenAPIText()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(published, text, 0o644); err != nil { //nolint:gosec // everybody may read it
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("run 'go test ./internal/api -update': %s", diff)
	}
}

// TestWordsFit checks that descriptions and examples belong to existing routes, and
// that an example has the type of the route's body.
func TestWordsFit(t *testing.T) {
	t.Parallel()
	routes, known := map[string]Route{}, map[string]bool{}
	for _, r := range Routes {
		routes[r.Name] = r
	}
	for _, g := range tags {
		known[g.Name] = true
	}
	for name := range more {
		if _, ok := routes[name]; !ok {
			t.Errorf("there is no route %s: its words are for nobody", name)
		}
	}
	for name, example := range examples {
		if got := reflect.TypeOf(example); got != routes[name].In {
			t.Errorf("the example of %s is a %v; the route takes %v", name, got, routes[name].In)
		}
	}
	for code := range statuses {
		if faultWords[code] == "" {
			t.Errorf("nothing says what %s means", code)
		}
	}
	for _, r := range Routes {
		if !known[r.tag()] {
			t.Errorf("%s has the tag %q, which nothing describes", r.Name, r.tag())
		}
	}
}

// TestNamesAreOfOneType checks that two types of the same name do not share a schema,
// which would be wrong for one of them.
func TestNamesAreOfOneType(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("two types have one name, and nobody is told")
		}
	}()
	type Session struct{}
	types := &typeSchemas{all: map[string]schema{}, types: map[string]reflect.Type{}}
	types.of(typeOf[pawl.Session]())
	types.of(typeOf[Session]())
}
