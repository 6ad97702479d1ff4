package api

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the document anew")

const published = "../../docs/schema/openapi.json"

// TestOpenAPIIsPublished: the document in docs is the one that is served.
func TestOpenAPIIsPublished(t *testing.T) {
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

func TestScopes(t *testing.T) {
	all := []Scope{ScopeNone, ScopeRead, ScopeRun, ScopeAdmin}
	for i, have := range all {
		for j, need := range all {
			if have.Covers(need) != (i >= j) {
				t.Errorf("%q covers %q: %t", have, need, have.Covers(need))
			}
		}
	}
	if Scope("root").Covers(ScopeNone) || ScopeAdmin.Covers("root") {
		t.Error("a scope that nobody knows covers, or is covered")
	}
}
