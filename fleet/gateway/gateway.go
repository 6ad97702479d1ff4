package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/weak"
)

// The bounds of a request.
const (
	DefaultMaxBody = 64 << 20         // bytes: conversations have images
	bodyWithin     = 60 * time.Second // it has to be here
)

// Config is what a gateway has.
type Config struct {
	Open    func(ref string) (model.Model, error)
	Window  func(ref string) (model.Window, error)              // nil means that nobody knows
	Small   func(ref string) (string, error)                    // nil means that there is none
	Sibling func(ref string) (string, error)                    // nil means that there is none
	Models  func(ctx context.Context) ([]pawl.ModelInfo, error) // nil means that they are not listed

	Token     string                   // who asks has to bring it; without one nobody may ask
	Redact    func(text string) string // masks secrets in errors; nil masks nothing
	PerTenant int                      // calls at once of one tenant, the others wait; 0 means any number
	MaxBody   int64                    // bytes of a request; 0 means DefaultMaxBody
}

type gateway struct {
	Config
	token   [sha256.Size]byte
	tenants tenants
}

// Handler serves the models of c. Use [Server] to serve it.
func Handler(c Config) http.Handler {
	if c.Redact == nil || weak.On("gateway.redact") {
		c.Redact = func(text string) string { return text }
	}
	c.MaxBody = cmp.Or(c.MaxBody, DefaultMaxBody)
	g := &gateway{Config: c, token: sha256.Sum256([]byte(c.Token)), tenants: tenants{most: c.PerTenant}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/stream", g.stream)
	mux.HandleFunc("GET /v1/check", answer(g, g.check))
	mux.HandleFunc("GET /v1/window", answer(g, g.window))
	mux.HandleFunc("GET /v1/small", answer(g, named(c.Small)))
	mux.HandleFunc("GET /v1/sibling", answer(g, named(c.Sibling)))
	mux.HandleFunc("GET /v1/models", answer(g, g.models))
	return g.guard(mux)
}

// guard lets those pass who bring the token. The time that takes says nothing
// about it.
func (g *gateway) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		sum := sha256.Sum256([]byte(given))
		if ok = ok && g.Token != "" && subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1; !ok && !weak.On("gateway.token") {
			http.Error(w, "the token is wrong: give this host the gateway's", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// answer serves a question about a model. That it has no answer is said with a
// status of its own, which nothing between the two sides uses.
func answer[T any](g *gateway, find func(ctx context.Context, ref string) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body any
		body, err := find(r.Context(), r.URL.Query().Get("ref"))
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			body = g.failure(err)
		}
		_ = json.NewEncoder(w).Encode(body) // who is gone does not read it
	}
}

func (g *gateway) check(_ context.Context, ref string) (struct{}, error) {
	_, err := g.Open(ref)
	return struct{}{}, err
}

// window is that of a model that can be opened: whoever plans with it hears now
// that there will be no reply, as one does whose models are not remote.
func (g *gateway) window(_ context.Context, ref string) (model.Window, error) {
	if _, err := g.Open(ref); err != nil || g.Window == nil {
		return model.Window{}, err
	}
	return g.Window(ref)
}

// named finds the model that stands beside another.
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
		return nil, fmt.Errorf("this gateway does not list its models: name one: %w", pawl.ErrNotFound)
	}
	return g.Models(ctx)
}

// failure is an error as the other side may know it.
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
