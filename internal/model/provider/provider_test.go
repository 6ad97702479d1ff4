package provider_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/provider"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpen(t *testing.T) {
	t.Parallel()
	good, flawed := write(t, `{"text":"hello"}`), write(t, `{"txet":"hello"}`)
	tests := []struct{ name, ref, says string }{
		{"a script", "script:" + good, ""},
		{"none", "", "no model configured"},
		{"a script that is not there", "script:" + good + "x", good + "x"},
		{"a script with a flaw", "script:" + flawed, `unknown key "txet"`},
		{"a script without a name", "script:", "open script"},
		{"another kind", "gpt-0", `unknown model "gpt-0"`},
		{"another case", "Script:" + good, "unknown model"},
	}
	var o provider.Opener
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := o.Open(test.ref)
			switch {
			case test.says == "" && (err != nil || m == nil):
				t.Errorf("got %v, %v", m, err)
			case test.says != "" && (!errors.Is(err, pawl.ErrInvalid) || !strings.Contains(err.Error(), test.says)):
				t.Errorf("got %v, want ErrInvalid that says %q", err, test.says)
			}
		})
	}
}

// A model stays open: a session that is at work is not disturbed by a change of its script.
func TestOpenOnce(t *testing.T) {
	t.Parallel()
	path := write(t, `{"text":"hello"}`)
	var o provider.Opener
	models := make([]model.Model, 20)
	var wg sync.WaitGroup
	for i := range models {
		wg.Go(func() {
			m, err := o.Open("script:" + path)
			if err != nil {
				t.Error(err)
			}
			models[i] = m
		})
	}
	wg.Wait()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	again, err := o.Open("script:" + path)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		if m != again {
			t.Error("it was opened twice")
		}
	}
}

// A failure is not kept: once the script is there, it opens.
func TestOpenAfterAFailure(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "later.jsonl")
	var o provider.Opener
	if _, err := o.Open("script:" + path); err == nil {
		t.Fatal("a script that is not there was opened")
	}
	if err := os.WriteFile(path, []byte(`{"text":"hello"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Open("script:" + path); err != nil {
		t.Error(err)
	}
}
