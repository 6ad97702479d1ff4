package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/store"
)

// The bounds of what is asked about a model.
const (
	knownFor  = time.Minute      // an answer holds
	maxKnown  = 1000             // answers that are kept; then it begins anew
	askWithin = 10 * time.Second // there is an answer
	maxAnswer = 16 << 20         // bytes
	maxReason = 500              // bytes of a refusal that are repeated
)

// Client opens the models of a gateway. A gateway that cannot be reached, breaks
// off or refuses the token is a [pawl.ErrUnavailable]; all other errors are those
// of the models. It is safe for concurrent use and needs nothing that a provider
// knows one by.
type Client struct {
	URL   string       // e.g. http://coordinator:7465
	Token string       // the gateway's
	HTTP  *http.Client // nil means one with [Transport]

	once  sync.Once
	mu    sync.Mutex
	known map[string]answered
}

// answered is what a gateway has said.
type answered struct {
	body  []byte
	until time.Time
}

// Open returns the model that ref names on the gateway. It asks nobody: that there
// is no such model is an error of Window, of Check, and of the model's stream.
func (c *Client) Open(ref string) (model.Model, error) { return remoteModel{c, ref}, nil }

// Window returns how much a model takes. It fails for one that cannot be opened.
func (c *Client) Window(ref string) (w model.Window, err error) {
	return w, c.recall("window", ref, &w)
}

// Small returns the ref of the model that writes titles and summaries for sessions
// with a given one; "" means none.
func (c *Client) Small(ref string) (small string, err error) {
	return small, c.recall("small", ref, &small)
}

// Sibling returns the ref of the small model of the same provider; "" means none.
func (c *Client) Sibling(ref string) (small string, err error) {
	return small, c.recall("sibling", ref, &small)
}

// Check reports why a model cannot be opened.
func (c *Client) Check(ctx context.Context, ref string) error {
	_, err := c.ask(ctx, "check", ref)
	return err
}

// Models returns those that the gateway lists.
func (c *Client) Models(ctx context.Context) (list []pawl.ModelInfo, err error) {
	body, err := c.ask(ctx, "models", "")
	if err != nil {
		return nil, err
	}
	return list, c.decode(body, &list)
}

// recall asks about a model unless that was answered lately. Failures are not kept.
func (c *Client) recall(what, ref string, answer any) error {
	key := what + " " + ref
	c.mu.Lock()
	kept, ok := c.known[key]
	c.mu.Unlock()
	if ok && time.Now().Before(kept.until) {
		return c.decode(kept.body, answer)
	}
	ctx, cancel := context.WithTimeout(context.Background(), askWithin)
	defer cancel()
	body, err := c.ask(ctx, what, ref)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxKnown {
		c.known = map[string]answered{}
	}
	c.known[key] = answered{body, time.Now().Add(knownFor)}
	return c.decode(body, answer)
}

// ask returns what the gateway says about a model.
func (c *Client) ask(ctx context.Context, what, ref string) ([]byte, error) {
	resp, err := c.do(ctx, http.MethodGet, "/v1/"+what+"?ref="+url.QueryEscape(ref), nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, unavailable("read the model gateway's answer: %w", err)
	case resp.StatusCode == http.StatusOK:
		return body, nil
	case resp.StatusCode == http.StatusUnprocessableEntity:
		var f failure
		if err := c.decode(body, &f); err != nil {
			return nil, err
		}
		return nil, f.err()
	}
	return nil, c.refused(resp.Status, body)
}

func (c *Client) decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return unavailable("%s does not answer as a model gateway does: %w", c.URL, err)
	}
	return nil
}

// do sends a request. What fails on the way is unavailable, but for the end of ctx.
func (c *Client) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(c.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, unavailable("the model gateway's address is wrong: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	if t := store.TenantOf(ctx); t != "" {
		req.Header.Set(TenantHeader, string(t))
	}
	resp, err := c.http().Do(req)
	if err != nil {
		return nil, unavailable("ask the model gateway: %w: does it run, and can this host reach it?", err)
	}
	return resp, nil
}

func (c *Client) http() *http.Client {
	c.once.Do(func() {
		if c.HTTP == nil {
			c.HTTP = &http.Client{Transport: Transport()}
		}
	})
	return c.HTTP
}

// refused is a status that says nothing of the model.
func (c *Client) refused(status string, body []byte) error {
	return unavailable("the model gateway at %s says %s: %s", c.URL, status, strings.TrimSpace(string(body[:min(len(body), maxReason)])))
}
