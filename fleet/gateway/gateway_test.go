package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/modeltest"
	"github.com/pawl-dev/pawl/internal/store"
)

// TestToken checks that requests without the right token are rejected, and that a gateway without a token rejects all.
func TestToken(t *testing.T) {
	t.Parallel()
	m := openScript(t, `{"text":"a"}`)
	for _, test := range []struct {
		name, has, brings string
		ok                bool
	}{
		{"the token", token, token, true},
		{"none", token, "", false},
		{"another", token, token + "x", false},
		{"a part of it", token, token[:4], false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, Config{Open: only(m), Token: test.has})
			s.Token = test.brings
			_, streamed := read(t.Context(), s.model("m"), model.Request{})
			_, window := s.Window("m")
			for _, err := range []error{streamed, window, s.Check(t.Context(), "m")} {
				if refused := errors.Is(err, pawl.ErrUnavailable) && strings.Contains(err.Error(), "wrong token"); refused == test.ok || test.ok && err != nil {
					t.Errorf("got %v, want it to pass: %v", err, test.ok)
				}
			}
		})
	}
	open := Handler(Config{Open: only(m)}) // no token is configured
	c := connect(t, listen(t, "127.0.0.1:0", Server(open)), Transport())
	for _, c.Token = range []string{"", token} {
		if err := c.Check(t.Context(), "m"); !errors.Is(err, pawl.ErrUnavailable) {
			t.Errorf("a gateway without a token lets %q pass: %v", c.Token, err)
		}
	}
}

// TestSecretsStay checks that a key in a message of a provider does not leave the gateway.
func TestSecretsStay(t *testing.T) {
	t.Parallel()
	const key = "the-key-itself"
	failed := &model.ProviderError{Kind: pawl.ErrorAuth, Message: "no such key: " + key}
	s := serve(t, Config{
		Open: only(says(failed, []model.Chunk{
			{Kind: model.ChunkRetry, Retry: pawl.Retry{Message: "wrong: " + key}},
			{Kind: model.ChunkNotice, Text: "waiting with " + key},
		})),
		Small:  func(string) (string, error) { return "", failed },
		Redact: func(s string) string { return strings.ReplaceAll(s, key, "[masked]") },
	})
	chunks, err := read(t.Context(), s.model("m"), model.Request{})
	_, small := s.Small("m")
	var provider *model.ProviderError
	if !errors.As(err, &provider) || len(chunks) != 2 {
		t.Fatalf("got %v, %v", chunks, err)
	}
	for _, said := range []string{chunks[0].Retry.Message, chunks[1].Text, err.Error(), provider.Message, small.Error()} {
		if strings.Contains(said, key) || !strings.Contains(said, "[masked]") {
			t.Errorf("it says %q", said)
		}
	}
}

// TestBodiesAreBounded checks that a request that is too large is an overflow, so that the conversation is compacted,
// and that one just below the limit is accepted.
func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{Open: only(says(nil, []model.Chunk{text("a"), finish})), MaxBody: 1 << 20})
	for size, ok := range map[int]bool{1<<20 - 200: true, 1 << 20: false, 8 << 20: false} {
		_, err := read(t.Context(), s.model("m"), model.Request{System: strings.Repeat("a", size)})
		var failed *model.ProviderError
		if overflow := errors.As(err, &failed) && failed.Kind == pawl.ErrorOverflow; overflow == ok || ok && err != nil {
			t.Errorf("%d bytes: got %v", size, err)
		}
	}
}

// TestLargeConversations checks that images and calls that are much larger than a buffer are passed on.
func TestLargeConversations(t *testing.T) {
	t.Parallel()
	image := pawl.File{Name: "a.png", MediaType: "image/png", Data: make([]byte, 6<<20)}
	want := model.Request{Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: pawl.Parts{image}}}}
	got := 0
	s := serve(t, Config{Open: only(stream(func(_ context.Context, req model.Request, yield func(model.Chunk, error) bool) {
		got = len(req.Messages[0].Parts[0].(pawl.File).Data)
		yield(model.Chunk{Kind: model.ChunkCall, Call: pawl.ToolCall{Input: make([]byte, 3<<20)}}, nil)
	}))})
	chunks, err := read(t.Context(), s.model("m"), want)
	if err != nil || got != 6<<20 || len(chunks) != 1 || len(chunks[0].Call.Input) != 3<<20 {
		t.Errorf("the model saw %d bytes; %d chunks, %v", got, len(chunks), err)
	}
}

// TestAnotherVersion checks that both sides report what they do not understand.
func TestAnotherVersion(t *testing.T) {
	t.Parallel()
	for body, says := range map[string]string{
		`{"ref":"m","request":{"mood":"good"}}`: `unknown field "mood"`,
		`{"ref":`:                               "unexpected EOF",
	} {
		s := serve(t, Config{Open: only(says1)})
		resp, err := s.do(t.Context(), http.MethodPost, "/v1/stream", []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := (remoteModel{client: s.Client}).responseError(resp); !errors.Is(err, pawl.ErrUnavailable) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v", body, err)
		}
		_ = resp.Body.Close()
	}
	for line, says := range map[string]string{
		`{"kind":"song","text":"la"}`: `unknown type "song"`,
		`{"kind":"error"}`:            `unknown type "error"`,
		`<html>`:                      "does not answer like a model gateway",
	} {
		_, over, err := remoteModel{client: &Client{}}.read([]byte(line))
		if !over || !errors.Is(err, pawl.ErrUnavailable) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v", line, err)
		}
	}
}

var says1 = says(nil, []model.Chunk{text("a"), finish})

// TestTenantsWait checks that the calls of a tenant at its limit wait, that other tenants do not wait, and that a
// canceled call does not delay others.
func TestTenantsWait(t *testing.T) {
	t.Parallel()
	began, end := make(chan store.Tenant), make(chan struct{})
	s := serve(t, Config{PerTenant: 2, Open: only(stream(func(ctx context.Context, req model.Request, yield func(model.Chunk, error) bool) {
		if req.Session == "canceled" { // it was started before the gateway noticed the cancel
			<-ctx.Done()
			return
		}
		began <- store.TenantOf(ctx)
		<-end
		yield(finish, nil)
	}))})
	done := make(chan error)
	call := func(ctx context.Context, name store.Tenant, id pawl.SessionID) {
		go func() {
			_, err := read(store.WithTenant(ctx, name), s.model("m"), model.Request{Session: id})
			done <- err
		}()
	}
	for range 3 {
		call(t.Context(), "many", "stays")
	}
	one, two := receive(t, began, "the first call"), receive(t, began, "the second")
	call(t.Context(), "few", "stays")
	other := receive(t, began, "the other tenant's") // while the third still waits
	if diff := cmp.Diff([]store.Tenant{"many", "many", "few"}, []store.Tenant{one, two, other}); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	canceled, cancel := context.WithCancel(t.Context())
	call(canceled, "many", "canceled")
	cancel()
	if err := receive(t, done, "the end of who gave up"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	end <- struct{}{}
	end <- struct{}{}
	end <- struct{}{}
	if got := receive(t, began, "the third call"); got != "many" {
		t.Errorf("%q began", got)
	}
	end <- struct{}{}
	for range 4 {
		if err := receive(t, done, "the end of a call"); err != nil {
			t.Error(err)
		}
	}
}

// TestTenantsAreForgotten checks that nothing is left of ended calls, and that too many waiting calls are rejected.
func TestTenantsAreForgotten(t *testing.T) {
	t.Parallel()
	l := tenants{limit: 1}
	leave, err := l.enter(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.enter(canceled, "a"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for range maxWaiting {
		if _, err := l.join("a"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.enter(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "try again later") {
		t.Errorf("got %v", err)
	}
	for range maxWaiting {
		l.leave("a", l.queues["a"])
	}
	leave()
	if len(l.queues) != 0 {
		t.Errorf("left: %v", l.queues)
	}
	s := serve(t, Config{Open: only(says1), PerTenant: 1})
	if _, err := modeltest.Read(store.WithTenant(t.Context(), "../b"), s.model("m"), model.Request{}); !errors.Is(err, pawl.ErrUnavailable) || !strings.Contains(err.Error(), "invalid tenant name") {
		t.Errorf("got %v", err)
	}
}
