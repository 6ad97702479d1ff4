package catalog

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// serve starts a server that answers each path with a text, and returns a
// provider at its address.
func serve(t *testing.T, dialect string, answers map[string]string) Provider {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(srv.Close)
	return Provider{ID: dialect, Dialect: dialect, Protocol: ProtocolChat, BaseURL: srv.URL + "/v1", Local: true}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	ollama := serve(t, "ollama", map[string]string{"/api/tags": `{"models":[{"name":"qwen3:8b","size":1},{"name":"llama3.2:latest"},{"name":"a\u001b[2Jb"},{"name":""}]}`})
	llamacpp := serve(t, "llamacpp", map[string]string{"/v1/models": `{"object":"list","data":[{"id":"gemma.gguf","meta":{"n_ctx":16384,"n_ctx_train":131072}}]}`})
	vllm := serve(t, "vllm", map[string]string{"/v1/models": `{"object":"list","data":[{"id":"Qwen/Qwen3-32B","max_model_len":40960}]}`})
	empty := serve(t, "lmstudio", map[string]string{"/v1/models": `{"object":"list","data":[]}`})
	page := serve(t, "page", map[string]string{"/v1/models": `<html>hello</html>`})
	other := serve(t, "other", map[string]string{"/v1/models": `{"status":"ok"}`})
	missing := serve(t, "missing", nil)
	large := serve(t, "large", map[string]string{"/v1/models": `{"data":[` + strings.Repeat(" ", maxAnswer) + `]}`})
	moved := httptest.NewServer(http.RedirectHandler(vllm.BaseURL+"/models", http.StatusFound))
	t.Cleanup(moved.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()

	got := Local(t.Context(), page, ollama, other, Provider{ID: "closed", BaseURL: closed.URL}, llamacpp, missing, large, vllm,
		Provider{ID: "moved", BaseURL: moved.URL}, empty, Provider{ID: "wrong", BaseURL: "::"})
	model := func(p Provider, id string, context int) Model {
		return Model{Ref: p.ID + "/" + id, Provider: p.ID, ID: id, Name: id, Context: context, Tools: true}
	}
	want := []Served{
		{ollama, []Model{model(ollama, "qwen3:8b", 0), model(ollama, "llama3.2:latest", 0)}},
		{llamacpp, []Model{model(llamacpp, "gemma.gguf", 16384)}},
		{vllm, []Model{model(vllm, "Qwen/Qwen3-32B", 40960)}},
		{empty, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
}

// TestLocalSilent: a server that takes the call and says nothing costs no more than the bound.
func TestLocalSilent(t *testing.T) {
	t.Parallel()
	ends := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(ends)
	}))
	defer srv.Close()
	began := time.Now()
	if got := Local(t.Context(), Provider{ID: "silent", BaseURL: srv.URL}); got != nil {
		t.Errorf("got %v", got)
	}
	if took := time.Since(began); took < localWait || took > 100*localWait {
		t.Errorf("it took %s, not %s", took, localWait)
	}
	<-ends
}

func TestLocalCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := Local(ctx, serve(t, "vllm", map[string]string{"/v1/models": `{"data":[]}`})); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestLocals(t *testing.T) {
	t.Parallel()
	var got []string
	for _, p := range mustOpen(t, "").Locals() {
		got = append(got, p.ID+" "+p.BaseURL)
	}
	want := []string{
		"ollama http://127.0.0.1:11434/v1", "lmstudio http://127.0.0.1:1234/v1",
		"llamacpp http://127.0.0.1:8080/v1", "vllm http://127.0.0.1:8000/v1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
}
