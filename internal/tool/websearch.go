package tool

import (
	"context"
	_ "embed" // the descriptions
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/tool/websearch"
)

//go:embed websearch.md
var websearchDescription string

type websearchInput struct {
	Query string `json:"query" jsonschema:"what to look for"`
	Count int    `json:"count,omitempty" jsonschema:"results, at most 8"`
}

// Searcher is a search service.
type Searcher interface {
	// Host returns the host that queries are sent to. An error explains how to
	// configure a service.
	Host() (string, error)
	Search(ctx context.Context, q websearch.Query) ([]websearch.Hit, error)
}

var _ Searcher = (*websearch.Service)(nil)

// WebSearch searches the web.
func WebSearch(s Searcher) toolapi.Tool {
	finder := finder{s, WebTimeout, snippetChars}
	check := func(in websearchInput) (websearch.Query, error) {
		return checkQuery(websearch.Query{Text: in.Query, Count: in.Count}, WebResults, WebResults)
	}
	return define(definition[websearchInput]{
		name:        "websearch",
		description: websearchDescription,
		risk:        toolapi.RiskModerate,
		access: func(_ toolapi.Call, in websearchInput) ([]pawl.Access, error) {
			_, err := check(in)
			return finder.access(err)
		},
		run: func(ctx context.Context, _ toolapi.Call, in websearchInput) (pawl.Result, error) {
			q, err := check(in)
			if err != nil {
				return pawl.Result{}, err
			}
			return finder.find(ctx, q)
		},
	})
}

const (
	maxQuery     = 2000 // bytes
	titleChars   = 200
	snippetChars = 1000
)

// checkQuery validates a query and sets its default count.
func checkQuery(q websearch.Query, usual, most int) (websearch.Query, error) {
	q.Text = strings.TrimSpace(q.Text)
	switch {
	case q.Text == "" || len(q.Text) > maxQuery:
		return q, fmt.Errorf("query must have between 1 and %d bytes", maxQuery)
	case q.Count < 0 || q.Count > most:
		return q, fmt.Errorf("count must be between 1 and %d", most)
	case q.Count == 0:
		q.Count = usual
	}
	return q, nil
}

// finder queries a service within its timeout.
type finder struct {
	Searcher
	timeout time.Duration
	chars   int // of a snippet
}

// access returns the accesses of a query, or the error if it is invalid.
func (f finder) access(err error) ([]pawl.Access, error) {
	if err != nil {
		return nil, err
	}
	host, err := f.Host()
	if err != nil {
		return nil, err
	}
	return []pawl.Access{{Kind: pawl.AccessNet, Target: host}}, nil
}

var errSearchTimeout = errors.New("timeout")

func (f finder) find(ctx context.Context, q websearch.Query) (pawl.Result, error) {
	host, err := f.Host()
	if err != nil {
		return pawl.Result{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, errSearchTimeout)
	defer cancel()
	hits, err := f.Search(ctx, q)
	switch {
	case errors.Is(context.Cause(ctx), errSearchTimeout) && err != nil:
		return pawl.Result{}, fmt.Errorf("ask %s: it took longer than %s", host, f.timeout)
	case err != nil:
		return pawl.Result{}, err
	case len(hits) == 0:
		return pawl.Result{Content: "(nothing was found)"}, nil
	}
	var out strings.Builder
	for i, h := range hits[:min(len(hits), q.Count)] {
		fmt.Fprintf(&out, "%d. %s\n", i+1, short(strings.Join(strings.Fields(h.Title), " "), titleChars))
		if u, err := url.Parse(h.URL); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			fmt.Fprintf(&out, "%s\n", shownURL(u))
		}
		fmt.Fprintf(&out, "%s\n\n", short(strings.TrimSpace(h.Snippet), f.chars))
	}
	return pawl.Result{Content: sanitize.Untrusted(host, out.String())}, nil
}
