package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
	"github.com/pawl-dev/pawl/internal/model"
)

// Bounds of a request.
const (
	DefaultMaxBody = 64 << 20         // bytes; conversations contain images
	bodyWithin     = 60 * time.Second // timeout for reading it
)

// Config configures a gateway.
type Config struct {
	Open    func(ref string) (model.Model, error)
	Window  func(ref string) (model.Window, error)              // nil means unknown
	Small   func(ref string) (string, error)                    // nil means none
	Sibling func(ref string) (string, error)                    // nil means none
	Models  func(ctx context.Context) ([]pawl.ModelInfo, error) // nil disables the list

	Token     string                   // required from clients; if it is empty, all requests are rejected
	Redact    func(text string) string // masks secrets in errors; nil masks nothing
	PerTenant int                      // concurrent calls of one tenant, others wait; 0 means no limit
	MaxBody   int64                    // bytes of a request; 0 means DefaultMaxBody
}

type gateway struct {
	Config
	token   [sha256.Size]byte
	tenants tenants
}

// Handler serves the models of c. Use [Server] to serve it.
func Handler(c Config) http.Handler {
	if c.Redact == nil {
		c.Redact = func(text string) string { return text }
	}
	c.MaxBody = cmp.Or(c.MaxBody, DefaultMaxBody)
	g := &gateway{Config: c, token: sha256.Sum256([]byte(c.Token)), tenants: tenants{limit: c.PerTenant}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/stream", g.stream)
	mux.HandleFunc("GET /v1/check", answer(g, g.check))
	mux.HandleFunc("GET /v1/window", answer(g, g.window))
	mux.HandleFunc("GET /v1/small", answer(g, named(c.Small)))
	mux.HandleFunc("GET /v1/sibling", answer(g, named(c.Sibling)))
	mux.HandleFunc("GET /v1/models", answer(g, g.models))
	return g.authenticate(mux)
}

// authenticate rejects requests without the token. The comparison takes constant time.
func (g *gateway) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		sum := sha256.Sum256([]byte(given))
		if ok = ok && g.Token != "" && subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1; !ok {
			http.Error(w, "wrong token: set the token of the gateway on this host", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// answer serves a query about a model. Errors of the query have a status of their own, which no proxy in
// between uses.
func answer[T any](g *gateway, find func(ctx context.Context, ref string) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body any
		body, err := find(r.Context(), r.URL.Query().Get("ref"))
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			body = g.failure(err)
		}
		_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
	}
}

func (g *gateway) check(_ context.Context, ref string) (struct{}, error) {
	_, err := g.Open(ref)
	return struct{}{}, err
}

// window returns the context window of a model. It fails if the model cannot be opened, as it does for local
// models.
func (g *gateway) window(_ context.Context, ref string) (model.Window, error) {
	if _, err := g.Open(ref); err != nil || g.Window == nil {
		return model.Window{}, err
	}
	return g.Window(ref)
}

// named serves a query for a related model.
func named(find func(ref string) (string, error)) func(context.Context, string) (string, error) {
	return func(_ context.Context, ref string) (string, error) {
		if find == nil {
			return "", nil
		}
		return find(ref)
	}
}

func (g *gateway) models(ctx context.Context, _ string) ([]pawl.ModelInfo, error) {
	if g.Models == nil {
		return nil, fault.New(pawl.ErrNotFound, "this gateway does not list its models: name one")
	}
	return g.Models(ctx)
}

// failure encodes an error for the client, with secrets masked.
func (g *gateway) failure(err error) *failure {
	f := &failure{Message: g.Redact(err.Error()), Code: pawl.CodeOf(err)}
	var provider *model.ProviderError
	if errors.As(err, &provider) {
		m := modelError(*provider)
		m.Message = g.Redact(m.Message)
		f.Model = &m
	}
	return f
}
