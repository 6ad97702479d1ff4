package websearch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxAnswer is the maximum size of an answer in bytes.
const maxAnswer = 4 << 20

// Service is a search service. It is safe for concurrent use.
type Service struct {
	kind
	base    *url.URL
	client  *http.Client
	key     func() (string, error)
	missing error // why no service is available
}

// Host returns the host that queries go to, with its port if it is not the
// default.
func (s *Service) Host() (string, error) {
	if s.missing != nil {
		return "", s.missing
	}
	return s.base.Host, nil
}

// Search returns at most q.Count hits, the best first. Its errors contain
// neither the key nor text of the service, which may quote the key.
func (s *Service) Search(ctx context.Context, q Query) ([]Hit, error) {
	if s.missing != nil {
		return nil, s.missing
	}
	hits, err := s.search(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", s.id, err)
	}
	return hits[:min(len(hits), q.Count)], nil
}

func (s *Service) search(ctx context.Context, q Query) ([]Hit, error) {
	key, err := s.key()
	if err != nil {
		return nil, err
	}
	req, err := s.request(s.base, key, q)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "pawl")
	resp, err := s.client.Do(req.WithContext(ctx))
	var outer *url.Error
	switch {
	case ctx.Err() != nil:
		if err == nil {
			_ = resp.Body.Close() // the caller no longer waits for it
		}
		return nil, context.Cause(ctx)
	case errors.As(err, &outer):
		return nil, outer.Err
	case err != nil:
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, s.refusal(resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("read its answer: %w", err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("its answer has more than %d bytes", maxAnswer)
	}
	return s.parse(s.base, body)
}

// refusal returns the error for an HTTP status, with what to do about it.
func (s *Service) refusal(resp *http.Response) error {
	status := resp.StatusCode
	switch {
	case s.id == "searxng" && status == http.StatusForbidden:
		return errors.New("it does not answer in JSON: add json to search.formats in its settings.yml")
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		hint := ""
		if len(s.keyVars) > 0 {
			hint = fmt.Sprintf(": the user must set %s, or run 'pawl auth login %s'", s.keyVars[0], s.id)
		}
		return fmt.Errorf("the key is missing or refused (HTTP %d)%s", status, hint)
	case status == http.StatusTooManyRequests || status == http.StatusPaymentRequired || status == 432 || status == 433: // the last two are Tavily's
		return fmt.Errorf("too many requests, or the plan is used up (HTTP %d): try again later", status)
	case status/100 == 3:
		return fmt.Errorf("it redirects (HTTP %d), which is not followed: its URL in pawl.json is wrong", status)
	case status >= 500:
		return fmt.Errorf("it fails (HTTP %d): try again later", status)
	default:
		return fmt.Errorf("it does not take the request (HTTP %d)", status)
	}
}

// get returns a GET request for a path below base.
func get(base *url.URL, path string, params url.Values) (*http.Request, error) {
	u := base.JoinPath(path)
	u.RawQuery = params.Encode()
	req, err := http.NewRequest(http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	return req, nil
}

// post returns a POST request with a JSON body.
func post(base *url.URL, path string, body any) (*http.Request, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, base.JoinPath(path).String(), bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}

// decode decodes an answer. It ignores unknown fields, because services add
// fields at any time.
func decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return errors.New("its answer is not what it should be: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
