package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
)

// slowBody is a body whose end has to be released.
type slowBody struct {
	begun   chan struct{} // closed when the server reads it
	once    sync.Once
	release chan struct{}
	text    io.Reader
}

func (b *slowBody) Read(p []byte) (int, error) {
	b.once.Do(func() { close(b.begun) })
	<-b.release
	return b.text.Read(p)
}

// TestBodiesAtOnce checks that the bodies of a token's requests in progress are limited together, however they come,
// and that another token has its own limit.
func TestBodiesAtOnce(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, func(c *httpapi.Config) {
		c.Bodies, c.AllBodies = 600<<10, 1000<<10
		c.Auth = func(r *http.Request) (api.Principal, error) {
			token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			return api.Principal{Token: token, Scope: api.ScopeAdmin}, nil
		}
	})
	path := "/v1/sessions/" + string(b.create())
	large := fmt.Sprintf(`{"title":%q}`, strings.Repeat("x", 400<<10))
	rename := func(token string) request { return request{method: "PATCH", path: path, token: token, body: large} }

	slow := &slowBody{begun: make(chan struct{}), release: make(chan struct{}), text: strings.NewReader(large)}
	r := b.request(rename("ada"))
	r.Header.Set("Expect", "100-continue") // the body is read when the server has counted it
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(slow), int64(len(large)), nil
	done := make(chan int, 1)
	go func() {
		resp, err := b.http.Do(r)
		if err != nil {
			done <- 0
			return
		}
		_ = resp.Body.Close()
		done <- resp.StatusCode
	}()
	<-slow.begun
	got := b.refuses(429, api.CodeLimited, rename("ada"))
	if got.header.Get("Retry-After") == "" || !strings.Contains(got.text, "the token allows 600 KiB of request bodies in progress") {
		t.Errorf("it says %v %s", got.header, got.text)
	}
	if got := b.send(rename("bob")); got.status != 204 {
		t.Errorf("another token: %d %s", got.status, got.text)
	}
	close(slow.release)
	if status := <-done; status != 204 {
		t.Errorf("the first request: %d", status)
	}
	if got := b.send(rename("ada")); got.status != 204 {
		t.Errorf("after it has ended: %d %s", got.status, got.text)
	}

	q := b.request(rename("ada"))
	q.Body, q.ContentLength = io.NopCloser(strings.NewReader(large+strings.Repeat(" ", 300<<10))), -1
	resp, err := b.http.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a body of unknown size: %d", resp.StatusCode)
	}
	if got := b.send(rename("ada")); got.status != 204 {
		t.Errorf("after it was refused: %d %s", got.status, got.text)
	}
}

// TestBodySizes checks that each route has a limit that a token may use alone.
func TestBodySizes(t *testing.T) {
	t.Parallel()
	for _, r := range api.Routes {
		if r.InForm != api.FormNone && (r.MaxBody <= 0 || r.MaxBody > 64<<20) {
			t.Errorf("%s takes %d bytes", r.Name, r.MaxBody)
		}
	}
	if _, status := api.FaultOf(fmt.Errorf("x: %w", api.ErrTooLarge)); status != 413 {
		t.Errorf("too large is %d", status)
	}
}
