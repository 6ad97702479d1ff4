package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/api"
)

// Look returns the configuration that sessions in a directory have.
func (c *Client) Look(ctx context.Context, dir string) (f pawl.Project, err error) {
	return f, c.ask(ctx, "", http.MethodGet, "/v1/project", url.Values{"dir": {dir}}, nil, &f)
}

// Trust trusts a project's configuration, identified by its hash.
func (c *Client) Trust(ctx context.Context, dir, hash string) error {
	return c.ask(ctx, "", http.MethodPost, "/v1/project/trust", nil, api.Trust{Dir: dir, Hash: hash}, nil)
}

// Models returns the available models.
func (c *Client) Models(ctx context.Context) ([]pawl.ModelInfo, error) {
	var m api.Models
	err := c.ask(ctx, "", http.MethodGet, "/v1/models", nil, nil, &m)
	return m.Models, err
}

// Files returns at most limit files whose paths match the query.
func (c *Client) Files(ctx context.Context, dir, query string, limit int) ([]string, error) {
	q := url.Values{"dir": {dir}}
	setText(q, "query", query)
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	var f api.Files
	err := c.ask(ctx, "", http.MethodGet, "/v1/files", q, nil, &f)
	return f.Files, err
}

// Expand expands the commands and mentions of a prompt. It also returns notes for the
// user.
func (c *Client) Expand(ctx context.Context, dir string, p pawl.Prompt) (pawl.Prompt, []string, error) {
	in := api.Expand{Dir: dir, Prompt: api.Prompt{Parts: p.Parts, Delivery: p.Delivery, Settings: p.Settings}}
	var out api.Expanded
	err := c.ask(ctx, "", http.MethodPost, "/v1/expand", nil, in, &out)
	return pawl.Prompt{Parts: out.Prompt.Parts, Delivery: out.Prompt.Delivery, Settings: out.Prompt.Settings}, out.Notes, err
}

// Diff returns what a session changed in files.
func (c *Client) Diff(ctx context.Context, id pawl.SessionID, o pawl.DiffOptions) (d pawl.Diff, err error) {
	q := url.Values{}
	if o.Turn != 0 {
		q.Set("turn", strconv.Itoa(o.Turn))
	}
	if o.WorkingTree {
		q.Set("working_tree", "true")
	}
	setText(q, "path", o.Path)
	return d, c.ask(ctx, id, http.MethodGet, path(id, "/diff"), q, nil, &d)
}

// Output opens an output that is stored next to the log.
func (c *Client) Output(ctx context.Context, id pawl.SessionID, blob string) (io.ReadCloser, error) {
	r, err := c.request(ctx, http.MethodGet, path(id, "/outputs/"+url.PathEscape(blob)), nil, api.FormNone, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.do(r, id)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
