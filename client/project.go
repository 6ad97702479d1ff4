package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
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

// ListDir returns the entries of a directory of a session.
func (c *Client) ListDir(ctx context.Context, id pawl.SessionID, dir string) ([]pawl.FileInfo, bool, error) {
	q := url.Values{}
	setText(q, "path", dir)
	var l api.Listing
	err := c.ask(ctx, id, http.MethodGet, path(id, "/files"), q, nil, &l)
	return l.Entries, l.More, err
}

// ReadFile returns a part of a file of a session, and the size of the whole file.
func (c *Client) ReadFile(ctx context.Context, id pawl.SessionID, name string, offset, length int64) (pawl.File, int64, error) {
	q := url.Values{"path": {name}, "offset": {strconv.FormatInt(offset, 10)}, "length": {strconv.FormatInt(length, 10)}}
	r, err := c.request(ctx, http.MethodGet, path(id, "/file"), q, api.FormNone, nil)
	if err != nil {
		return pawl.File{}, 0, err
	}
	resp, err := c.do(r, id)
	if err != nil {
		return pawl.File{}, 0, err
	}
	defer resp.Body.Close()
	size, err := strconv.ParseInt(resp.Header.Get(api.FileSizeHeader), 10, 64)
	if err != nil {
		return pawl.File{}, 0, fmt.Errorf("read %s: the response does not say how large the file is", name)
	}
	data, err := io.ReadAll(resp.Body)
	return pawl.File{Name: filepath.Base(name), MediaType: resp.Header.Get("Content-Type"), Data: data}, size, err
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
