package hook_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/hook"
	"github.com/pawl-dev/pawl/internal/security/redact"
)

// mask is the redactor of pawl itself.
func mask(text string) string { return (*redact.Redactor)(nil).Redact(text) }

func TestSecretScanner(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	key := "ghp_" + "Zq3vX8bN1mK7cR5tY2wP" + "9dF4gH6jL0sA1eU8"
	e := hook.Event{Point: hook.ToolAfter, Tool: "bash", Result: pawl.Result{
		Content: "token " + key + "\n", Meta: map[string]string{"a": key, "b": "fine"},
		Display: pawl.Parts{pawl.Text{Text: key}, pawl.Patch{Path: "p", Diff: "+" + key}, pawl.File{Name: "f"}},
	}}
	got := w.run(e, hook.SecretScanner(mask))
	const masked = "[redacted: github token]"
	want := hook.Outcome{Messages: []string{"secrets were masked in the result of bash"}, Result: &pawl.Result{
		Content: "token " + masked + "\n", Meta: map[string]string{"a": masked, "b": "fine"},
		Display: pawl.Parts{pawl.Text{Text: masked}, pawl.Patch{Path: "p", Diff: "+" + masked}, pawl.File{Name: "f"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if e.Result.Meta["a"] != key {
		t.Error("the event itself was changed")
	}
	e.Result = pawl.Result{Content: "fine"}
	if diff := cmp.Diff(hook.Outcome{}, w.run(e, hook.SecretScanner(mask))); diff != "" {
		t.Error(diff)
	}
}

// TestSecretScannerFails: what could not be searched is withheld.
func TestSecretScannerFails(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	e := hook.Event{Point: hook.ToolAfter, Tool: "bash", Result: pawl.Result{Content: "key"}}
	o := w.run(e, hook.SecretScanner(func(string) string { panic("broken") }))
	if o.Result == nil || strings.Contains(o.Result.Content, "key") || !o.Result.IsError || len(o.Faults) != 1 {
		t.Errorf("%+v", o)
	}
}
