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

// maxAnswer bounds an answer.
const maxAnswer = 4 << 20

// Service is a service that can be asked. Safe for concurrent use.
type Service struct {
	kind
	base    *url.URL
	client  *http.Client
	key     func() (string, error)
	missing error // why there is no service
}

// Host returns the host that is asked, with its port if that is not the usual one.
func (s *Service) Host() (string, error) {
	if s.missing != nil {
		return "", s.missing
	}
	return s.base.Host, nil
}

// Search returns at most q.Count hits, the best first. Its errors hold neither
// the key nor what the service says: some quote the key.
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
			_ = resp.Body.Close() // nobody waits for it any more
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

// refusal says what a status means, and what to do about it.
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

// get makes a request for a path below the base.
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

// post makes a request with a JSON body.
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

// decode reads an answer. What it does not know it passes over: services add
// fields at will.
func decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return errors.New("its answer is not what it should be: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
