package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/catalog"
	"github.com/pawl-dev/pawl/internal/model/fakeprovider"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	opener "github.com/pawl-dev/pawl/internal/model/provider"
)

func see(err error) *seen {
	if err == nil {
		return nil
	}
	s := &seen{Text: err.Error(), Code: pawl.CodeOf(err)}
	errors.As(err, &s.Model)
	return s
}

// same fails unless a model replies the same locally and through the gateway.
func same(t *testing.T, here, there model.Model, req model.Request) {
	t.Helper()
	want, wantErr := read(t.Context(), here, req)
	got, gotErr := read(t.Context(), there, req)
	jitter := cmpopts.IgnoreFields(pawl.Retry{}, "Wait")
	if diff := cmp.Diff(want, got, jitter); diff != "" {
		t.Errorf("chunks (-here +there):\n%s", diff)
	}
	if diff := cmp.Diff(see(wantErr), see(gotErr)); diff != "" {
		t.Errorf("error (-here +there):\n%s", diff)
	}
	if len(want) == 0 && wantErr == nil {
		t.Error("nothing was said")
	}
}

// TestScriptsSayTheSame compares the replies of scripted models, complete and with each fault.
func TestScriptsSayTheSame(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		`{"reasoning":"I think so.","text":"Grüße & <b> 你好","deltas":7,"calls":[{"name":"read","input":{"path":"a <b> & c"}}],"usage":{"input":10,"output":5,"cache_read":3}}`,
		`{"text":"Let me","calls":[{"name":"read","input":{"path":"a"}}],"fault":"garbage"}`,
		`{"fault":"error","text":"bad key"}`,
		`{"fault":"overloaded"}`,
		`{"text":"it breaks off here","deltas":4,"fault":"drop"}`,
		`{"expect":"something else","text":"no"}`,
	} {
		t.Run(script, func(t *testing.T) {
			m := openScript(t, script)
			same(t, m, serve(t, Config{Open: only(m)}).model("m"), model.Request{Messages: []pawl.Message{modeltest.Prompt("Go.")}, Tools: modeltest.Tools()})
		})
	}
}

// providers starts a fake provider and returns an opener that has its key, for all protocols.
func providers(t *testing.T, c fakeprovider.Config, lines ...string) *opener.Opener {
	t.Helper()
	c.Key = "the-providers-key"
	at := modeltest.StartFake(t, c, lines...).URL
	known, err := catalog.Open("")
	if err != nil {
		t.Fatal(err)
	}
	return &opener.Opener{Config: opener.Config{
		Catalog: func() (*catalog.Catalog, error) { return known, nil },
		Key:     func(catalog.Provider) (string, error) { return c.Key, nil },
		Endpoints: map[string]opener.Endpoint{
			"anthropic": {BaseURL: at}, "gemini": {BaseURL: at}, "openai": {BaseURL: at + "/v1"}, "groq": {BaseURL: at + "/v1"},
		},
	}}
}

// refs names a model for each protocol.
var refs = []string{"anthropic/claude-sonnet-4-5", "openai/gpt-5", "gemini/gemini-2.5-pro", "groq/qwen/qwen3-32b"}

// TestProvidersSayTheSame compares the replies to all requests of modeltest, from a provider that checks the request
// and its key.
func TestProvidersSayTheSame(t *testing.T) {
	t.Parallel()
	line := `{"reasoning":"I think.","text":"let me look","deltas":4,"calls":[{"name":"read","input":{"path":"a.txt"}}],"usage":{"input":10,"output":5}}`
	o := providers(t, fakeprovider.Config{}, line, line, line, line, line, line)
	gateway := serve(t, Config{Open: o.Open})
	for _, ref := range refs {
		here, err := o.Open(ref)
		if err != nil {
			t.Fatal(err)
		}
		for name, req := range modeltest.Requests() {
			t.Run(ref+"/"+name, func(t *testing.T) { same(t, here, gateway.model(ref), req) })
		}
	}
}

// TestFaultsAreTheSame compares the failures of a provider, and checks that requests are retried on one side only.
func TestFaultsAreTheSame(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault    string
		times    int // how often a request of each side fails; 0 means always
		requests int // requests that a call makes
	}{
		{"401", 0, 1}, {"400", 0, 1}, {"overflow", 0, 1}, {"overflow_late", 0, 1}, {"refusal", 0, 1}, {"529", 1, 2}, {"drop", 1, 2}, {"empty", 0, 2},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			fault, err := fakeprovider.ParseFault(test.fault)
			if err != nil {
				t.Fatal(err)
			}
			requests := 0
			o := providers(t, fakeprovider.Config{
				Log: func(fakeprovider.Record) { requests++ },
				Fault: func(n int, _ *http.Request) fakeprovider.Fault {
					if test.times > 0 && n%(test.times+1) == 0 {
						return fakeprovider.Fault{}
					}
					return fault
				},
			}, `{"text":"let me look at it","deltas":4,"usage":{"input":10,"output":5}}`)
			here, err := o.Open(refs[0])
			if err != nil {
				t.Fatal(err)
			}
			same(t, here, serve(t, Config{Open: o.Open}).model(refs[0]), model.Request{Messages: []pawl.Message{modeltest.Prompt("Go.")}})
			if requests != 2*test.requests {
				t.Errorf("%d requests of both, want %d", requests, 2*test.requests)
			}
		})
	}
}

// TestErrorsAreTheSame checks that errors of a model, or of opening it, keep their class and their message.
func TestErrorsAreTheSame(t *testing.T) {
	t.Parallel()
	limited := &model.ProviderError{Kind: pawl.ErrorRateLimited, Status: 429, Message: "slow down", RetryAfter: time.Minute}
	for _, err := range []error{
		limited,
		&model.ProviderError{Kind: pawl.ErrorOverflow, Message: "too long"},
		fmt.Errorf("ask: %w", limited),
		errors.New("something else"),
		fmt.Errorf("no such model: %w", pawl.ErrInvalid),
		fmt.Errorf("no such model: %w", pawl.ErrNotFound),
		fmt.Errorf("the keyring is locked: %w", pawl.ErrUnavailable),
	} {
		t.Run(err.Error(), func(t *testing.T) {
			m := says(err, []model.Chunk{text("so far")})
			same(t, m, serve(t, Config{Open: only(m)}).model("m"), model.Request{})

			shut := serve(t, Config{
				Open:  func(string) (model.Model, error) { return nil, err },
				Small: func(string) (string, error) { return "", err },
			})
			_, streamed := read(t.Context(), shut.model("m"), model.Request{})
			_, window := shut.Window("m")
			_, small := shut.Small("m")
			for _, got := range []error{streamed, window, small, shut.Check(t.Context(), "m")} {
				if diff := cmp.Diff(see(err), see(got)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestQuestions checks the queries about models, and that their answers are cached.
func TestQuestions(t *testing.T) {
	t.Parallel()
	asked := 0
	list := []pawl.ModelInfo{{Ref: "p/m", Name: "M", Context: 9}}
	s := serve(t, Config{
		Open: only(openScript(t, `{"text":"a"}`)),
		Window: func(ref string) (model.Window, error) {
			asked++
			return model.Window{Context: len(ref), Output: 2}, nil
		},
		Sibling: func(ref string) (string, error) { asked++; return "small of " + ref, nil },
		Models:  func(context.Context) ([]pawl.ModelInfo, error) { return list, nil },
	})
	for range 2 {
		w, err := s.Window("p/a&b c")
		sibling, err2 := s.Sibling("p/m")
		small, err3 := s.Small("p/m")
		models, err4 := s.Models(t.Context())
		if err := errors.Join(err, err2, err3, err4, s.Check(t.Context(), "p/m")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{model.Window{Context: 7, Output: 2}, "small of p/m", "", list}, []any{w, sibling, small, models}); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if asked != 2 {
		t.Errorf("the gateway was asked %d times, want 2", asked)
	}
	if _, err := serve(t, Config{}).Models(t.Context()); !errors.Is(err, pawl.ErrNotFound) || !strings.Contains(err.Error(), "name one") {
		t.Errorf("got %v", err)
	}
}
