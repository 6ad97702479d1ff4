package tool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

func named(name string) toolapi.Tool { return toolapi.Tool{Spec: toolapi.Spec{Name: name}} }

func TestRegistry(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		tools []toolapi.Tool
		error string
	}{
		{"none", nil, ""},
		{"some", []toolapi.Tool{named("a"), named("b")}, ""},
		{"the same name twice", []toolapi.Tool{named("a"), named("b"), named("a")}, `register tool "a": the name is empty or taken`},
		{"no name", []toolapi.Tool{named("")}, `register tool "": the name is empty or taken`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := NewRegistry(test.tools...)
			checkError(t, err, test.error)
			if err != nil {
				return
			}
			for _, tool := range test.tools {
				got, ok := r.Tool(tool.Name)
				if diff := cmp.Diff(tool.Spec, got.Spec); diff != "" || !ok {
					t.Errorf("Tool(%q): %v %s", tool.Name, ok, diff)
				}
			}
			if _, ok := r.Tool("A"); ok {
				t.Error("a tool answers to a name that is not its own")
			}
		})
	}
}

// Some of the tools, and more of them: the order stays, and none shadows another.
func TestRegistryOnlyAndWith(t *testing.T) {
	t.Parallel()
	r, err := NewRegistry(named("a"), named("b"), named("c"))
	checkError(t, err, "")
	some := r.Only(func(name string) bool { return name != "b" })
	more, err := some.With(named("server__b"), named("b"))
	checkError(t, err, "")
	if diff := cmp.Diff([]string{"a", "c", "server__b", "b"}, more.Names()); diff != "" {
		t.Error(diff)
	}
	if _, ok := some.Tool("b"); ok {
		t.Error("a tool that was left out is still found")
	}
	_, err = r.With(named("b"))
	checkError(t, err, `register tool "b": the name is empty or taken`)
	if diff := cmp.Diff([]string{"a", "b", "c"}, r.Names()); diff != "" {
		t.Errorf("the first registry has changed: %s", diff)
	}
}

func TestRisks(t *testing.T) {
	t.Parallel()
	tools := builtin(t)
	got := map[string]toolapi.Risk{}
	for _, spec := range tools.Specs() {
		tool, _ := tools.Tool(spec.Name)
		got[spec.Name] = tool.Risk
	}
	want := map[string]toolapi.Risk{
		"read": toolapi.RiskSafe, "list": toolapi.RiskSafe, "apply_patch": toolapi.RiskDangerous,
		"webfetch": toolapi.RiskModerate, "websearch": toolapi.RiskModerate, "diagnostics": toolapi.RiskSafe, "codesearch": toolapi.RiskModerate,
		"glob": toolapi.RiskSafe, "grep": toolapi.RiskSafe,
		"todoread": toolapi.RiskSafe, "todowrite": toolapi.RiskSafe, "question": toolapi.RiskSafe, "task": toolapi.RiskSafe, "plan_exit": toolapi.RiskSafe,
		"write": toolapi.RiskDangerous, "edit": toolapi.RiskDangerous, "bash": toolapi.RiskDangerous,
		"bash_output": toolapi.RiskSafe, "bash_kill": toolapi.RiskSafe,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The directory of a session may no longer exist when it is resumed.
func TestMissingWorkspace(t *testing.T) {
	t.Parallel()
	tools := builtin(t)
	missing := filepath.Join(t.TempDir(), "missing")
	for _, name := range []string{"read", "list", "glob", "grep", "write", "edit", "apply_patch", "bash"} {
		tool, _ := tools.Tool(name)
		_, err := try(t.Context(), tool, call(missing, with(t, name, "", "", nil)))
		checkError(t, err, missing)
	}
}

// The specs are part of every request: a change here costs every user's cache.
func TestSpecsGolden(t *testing.T) {
	t.Parallel()
	specs := builtin(t).Specs()
	got, err := json.MarshalIndent(specs, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	sent, err := json.Marshal(specs)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the specs of %d tools are %d bytes", len(specs), len(sent))
	if len(sent) > 9<<10 {
		t.Errorf("the specs are %d bytes: they are paid for with every request", len(sent))
	}
	got = append(got, '\n')
	golden := filepath.Join("testdata", "specs.golden.json")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("run with -update if this is meant: %s", diff)
	}
	for range 20 {
		if diff := cmp.Diff(specs, builtin(t).Specs()); diff != "" {
			t.Fatalf("the specs are not always the same: %s", diff)
		}
	}
}
