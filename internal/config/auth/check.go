package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

// checkWait bounds the test of a key.
const checkWait = 15 * time.Second

// Target is the API to test a key with.
type Target struct {
	Protocol string // as in the catalog
	Dialect  string
	BaseURL  string
}

// Verdict is the result of testing a key.
type Verdict string

// The verdicts.
const (
	Works       Verdict = "works"
	Refused     Verdict = "key rejected"
	Unreachable Verdict = "unreachable"
	Unproven    Verdict = "inconclusive" // the provider answers, but the answer says nothing about the key
)

// Outcome is a verdict and its reason. The reason never contains the answer of the
// provider, because some quote the key.
type Outcome struct {
	Verdict Verdict
	Detail  string
}

// Check tests a key by listing the provider's models, which is free. It returns an
// error if the protocol has no such request.
func Check(ctx context.Context, t Target, key Secret) (Outcome, error) {
	path, ok := map[string]string{
		"anthropic": "/v1/models?limit=1",
		"gemini":    "/v1beta/models?pageSize=1",
		"chat":      "/models",
		"responses": "/models",
	}[t.Protocol]
	if t.Dialect == "openrouter" {
		path = "/key" // it lists its models to everybody
	}
	if !ok {
		return Outcome{}, fault.New(pawl.ErrInvalid, "keys of the %s protocol cannot be tested", t.Protocol)
	}
	if t.BaseURL == "" {
		return Outcome{}, fault.New(pawl.ErrInvalid, "the base URL depends on your account").Hint("Pass it with --base-url.")
	}
	address, err := url.Parse(t.BaseURL + path)
	if err != nil || address.Host == "" || address.Scheme != "https" && address.Scheme != "http" {
		return Outcome{}, fault.New(pawl.ErrInvalid, "invalid base URL %q: use a URL such as https://api.example.org/v1", t.BaseURL)
	}
	ctx, cancel := context.WithTimeout(ctx, checkWait)
	defer cancel()
	o := ask(ctx, t, address.String(), key)
	if o.Verdict == Works && ask(ctx, t, address.String(), "").Verdict == Works {
		return Outcome{Unproven, "the server also answers without a key"}, nil
	}
	return o, nil
}

// checkClient does not follow redirects: the key is for this host only.
var checkClient = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// badKey matches the answer of providers that reject a wrong key with 400, not 401.
var badKey = regexp.MustCompile(`(?i)api[ _-]?key`)

func ask(ctx context.Context, t Target, address string, key Secret) Outcome {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Outcome{Unreachable, err.Error()}
	}
	if key != "" {
		authorize(req.Header, t, key)
	}
	resp, err := checkClient.Do(req)
	var wrapped *url.Error
	switch {
	case errors.As(err, &wrapped) && wrapped.Timeout():
		return Outcome{Unreachable, fmt.Sprintf("no answer within %s", checkWait)}
	case errors.As(err, &wrapped):
		return Outcome{Unreachable, wrapped.Err.Error()}
	case err != nil:
		return Outcome{Unreachable, err.Error()}
	}
	defer resp.Body.Close()
	status := fmt.Sprintf("HTTP %d", resp.StatusCode)
	switch code := resp.StatusCode; {
	case code/100 == 2:
		return Outcome{Works, ""}
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return Outcome{Refused, status}
	case code == http.StatusBadRequest:
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // what came is enough to look at
		if badKey.Match(body) {
			return Outcome{Refused, status}
		}
	case code/100 == 5:
		return Outcome{Unreachable, "the server answered " + status}
	}
	return Outcome{Unproven, "the server answered " + status}
}

// authorize adds the key to the header that the protocol uses.
func authorize(h http.Header, t Target, key Secret) {
	switch {
	case t.Dialect == "azure":
		h.Set("api-key", key.Reveal())
	case t.Protocol == "anthropic":
		h.Set("x-api-key", key.Reveal())
		h.Set("anthropic-version", "2023-06-01")
	case t.Protocol == "gemini":
		h.Set("x-goog-api-key", key.Reveal())
	default:
		h.Set("Authorization", "Bearer "+key.Reveal())
	}
}
