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

// Bounds of queries about a model.
const (
	knownFor  = time.Minute      // how long an answer is cached
	maxKnown  = 1000             // cached answers; then the cache is cleared
	askWithin = 10 * time.Second // timeout of a query
	maxAnswer = 16 << 20         // bytes
	maxReason = 500              // bytes of an error response that are quoted
)

// Client opens the models of a gateway. If the gateway cannot be reached, breaks off or rejects the token,
// errors wrap [pawl.ErrUnavailable]; all other errors are those of the models. It is safe for concurrent use
// and needs no provider credentials.
type Client struct {
	URL   string       // e.g. http://coordinator:7465
	Token string       // of the gateway
	HTTP  *http.Client // nil means one with [Transport]

	once  sync.Once
	mu    sync.Mutex
	known map[string]cachedAnswer
}

// cachedAnswer is a cached answer.
type cachedAnswer struct {
	body  []byte
	until time.Time
}

// Open returns a model of the gateway. It makes no request: an unknown model is an error of Window, Check and
// the model's stream.
func (c *Client) Open(ref string) (model.Model, error) { return remoteModel{c, ref}, nil }

// Window returns the context window of a model. It fails if the model cannot be opened.
func (c *Client) Window(ref string) (w model.Window, err error) {
	return w, c.cached("window", ref, &w)
}

// Small returns the model that writes titles and summaries for sessions with the given one; "" means none.
func (c *Client) Small(ref string) (small string, err error) {
	return small, c.cached("small", ref, &small)
}

// Sibling returns the small model of the same provider; "" means none.
func (c *Client) Sibling(ref string) (small string, err error) {
	return small, c.cached("sibling", ref, &small)
}

// Check returns why a model cannot be opened, or nil.
func (c *Client) Check(ctx context.Context, ref string) error {
	_, err := c.ask(ctx, "check", ref)
	return err
}

// Models returns the models that the gateway lists.
func (c *Client) Models(ctx context.Context) (list []pawl.ModelInfo, err error) {
	body, err := c.ask(ctx, "models", "")
	if err != nil {
		return nil, err
	}
	return list, c.decode(body, &list)
}

// cached queries the gateway unless the answer is cached. Errors are not cached.
func (c *Client) cached(what, ref string, answer any) error {
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
		c.known = map[string]cachedAnswer{}
	}
	c.known[key] = cachedAnswer{body, time.Now().Add(knownFor)}
	return c.decode(body, answer)
}

// ask queries the gateway about a model.
func (c *Client) ask(ctx context.Context, what, ref string) ([]byte, error) {
	resp, err := c.do(ctx, http.MethodGet, "/v1/"+what+"?ref="+url.QueryEscape(ref), nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, unavailable("read the response of the model gateway: %w", err)
	case resp.StatusCode == http.StatusOK:
		return body, nil
	case resp.StatusCode == http.StatusUnprocessableEntity:
		var f failure
		if err := c.decode(body, &f); err != nil {
			return nil, err
		}
		return nil, f.err()
	}
	return nil, c.statusError(resp.Status, body)
}

func (c *Client) decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return unavailable("%s does not answer like a model gateway: %w", c.URL, err)
	}
	return nil
}

// do sends a request. Errors wrap pawl.ErrUnavailable unless ctx has ended.
func (c *Client) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(c.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, unavailable("invalid address of the model gateway: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	if t := store.TenantOf(ctx); t != "" {
		req.Header.Set(TenantHeader, string(t))
	}
	resp, err := c.http().Do(req)
	if err != nil {
		return nil, unavailable("connect to the model gateway: %w: check that it is running and that this host can reach it", err)
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

// statusError returns the error for a status that says nothing about the model.
func (c *Client) statusError(status string, body []byte) error {
	return unavailable("the model gateway at %s answered %s: %s", c.URL, status, strings.TrimSpace(string(body[:min(len(body), maxReason)])))
}
