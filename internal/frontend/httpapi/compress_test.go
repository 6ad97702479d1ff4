package httpapi_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-dev/pawl/internal/api"
	"github.com/pawl-dev/pawl/internal/frontend/httpapi"
)

// encoded sends a request that accepts gzip, and returns the response and its decoded body.
func (b *testServer) encoded(path string) (*http.Response, string) {
	b.Helper()
	r := b.request(request{method: "GET", path: path, header: map[string]string{"Accept-Encoding": "br, gzip"}})
	resp, err := b.http.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var body io.Reader = resp.Body
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(body); err != nil {
			b.Fatal(err)
		}
	}
	text, err := io.ReadAll(body)
	if err != nil {
		b.Fatal(err)
	}
	return resp, string(text)
}

// TestCompression checks that long text is compressed, and that outputs and streams are not.
func TestCompression(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil, func(c *httpapi.Config) {
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			_, _ = w.Write([]byte(strings.Repeat("pawl_x 1\n", 1000)))
		})
	})
	id := b.create()
	s := "/v1/sessions/" + string(id)
	for range 20 {
		if err := b.svc.Rename(t.Context(), id, strings.Repeat("title ", 30)); err != nil {
			t.Fatal(err)
		}
	}
	blob, err := b.store.PutBlob(t.Context(), id, strings.NewReader(strings.Repeat("output ", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/v1/openapi.json": "gzip", s + "/log": "gzip", "/metrics": "gzip",
		"/healthz": "", s: "", "/v1/nothing": "", s + "/outputs/" + blob.ID: "",
	} {
		plain := b.send(request{method: "GET", path: path, header: map[string]string{"Accept-Encoding": "identity"}})
		resp, text := b.encoded(path) //nolint:bodyclose // encoded closes it
		if got := resp.Header.Get("Content-Encoding"); got != want || resp.StatusCode != plain.status || plain.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %s, encoded as %q, want %q", path, resp.Status, got, want)
		}
		if plain.status == 200 && text != plain.text {
			t.Errorf("%s: the encoded response differs: %.200s", path, text)
		}
		if compressible := !strings.Contains(path, "/outputs/"); slices.Contains(resp.Header.Values("Vary"), "Accept-Encoding") != compressible {
			t.Errorf("%s: varies by %q", path, resp.Header.Values("Vary"))
		}
	}
	stream := b.open(id, "", map[string]string{"Accept-Encoding": "gzip"})
	if e := stream.next(); e.Seq != 1 || stream.resp.Header.Get("Content-Encoding") != "" {
		t.Errorf("the stream has %v and begins with %+v", stream.resp.Header, e)
	}
}

// TestHead checks that HEAD succeeds or fails on each route as GET does, and that streams end.
func TestHead(t *testing.T) { //nolint:paralleltest // it sets environment variables
	b := newTestServer(t, nil)
	id := b.planned("")
	before, err := b.svc.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	blob, err := b.store.PutBlob(t.Context(), id, strings.NewReader("output"))
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("{id}", string(id), "{blob}", blob.ID)
	gets := 0
	for _, r := range api.Routes {
		path := fill.Replace(r.Path)
		if r.Path == "/v1/project" || r.Path == "/v1/files" {
			path += "?dir=" + b.dir
		}
		head := b.send(request{method: "HEAD", path: path})
		switch {
		case r.Method != http.MethodGet:
			if got := b.send(request{method: "HEAD", path: path, token: "-"}); got.status < 400 {
				t.Errorf("%s: %d without a token", path, got.status)
			}
			continue
		case r.OutForm == api.FormStream:
			if head.status != 200 || head.header.Get("Content-Type") != string(api.FormStream) {
				t.Errorf("HEAD %s: %d %v", path, head.status, head.header)
			}
		default:
			get := b.send(request{method: "GET", path: path})
			if head.status != get.status || head.header.Get("Content-Type") != get.header.Get("Content-Type") {
				t.Errorf("HEAD %s: %d %v, GET: %d %v", path, head.status, head.header, get.status, get.header)
			}
		}
		if gets++; head.text != "" {
			t.Errorf("HEAD %s has a body: %s", path, head.text)
		}
		if got := b.send(request{method: "HEAD", path: path, token: "-"}); got.status != 401 {
			t.Errorf("HEAD %s without a token: %d", path, got.status)
		}
	}
	if row, err := b.svc.Get(t.Context(), id); err != nil || row.Head != before.Head || gets == 0 {
		t.Errorf("something has changed: %+v, %v", row, err)
	}
	if b.OpenStreams() != 0 {
		t.Errorf("%d streams are open", b.OpenStreams())
	}
}
