package tool

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/security/egress"
	"github.com/pawl-dev/pawl/internal/security/sanitize"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
)

//go:embed webfetch.md
var webfetchDescription string

type webfetchInput struct {
	URL     string `json:"url" jsonschema:"http or https"`
	Format  string `json:"format,omitempty" jsonschema:"markdown (default), text or html"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"seconds, 30 if left out, at most 120"`
}

// WebFetch returns a web page. Every connection goes through the guard.
func WebFetch(guard *egress.Guard) toolapi.Tool {
	client := guard.Client(egress.ClientConfig{Redirects: FetchRedirects, Follow: sameSite})
	return define(definition[webfetchInput]{
		name:        "webfetch",
		description: webfetchDescription,
		risk:        toolapi.RiskModerate,
		access: func(_ toolapi.Call, in webfetchInput) ([]pawl.Access, error) {
			u, err := in.check()
			if err != nil {
				return nil, err
			}
			return []pawl.Access{{Kind: pawl.AccessNet, Target: u.Host}}, nil
		},
		run: func(ctx context.Context, _ toolapi.Call, in webfetchInput) (pawl.Result, error) {
			u, err := in.check()
			if err != nil {
				return pawl.Result{}, err
			}
			return webfetch(ctx, client, u, in)
		},
	})
}

// check returns the URL, with its host normalized and the port only if it is
// not the default.
func (in webfetchInput) check() (*url.URL, error) {
	if in.Timeout < 0 || in.Timeout > int(FetchMaxTime.Seconds()) {
		return nil, fmt.Errorf("timeout must be between 0 and %.0f seconds", FetchMaxTime.Seconds())
	}
	switch in.Format {
	case "", formatMarkdown, formatText, formatHTML:
	default:
		return nil, fmt.Errorf("format must be %s, %s or %s", formatMarkdown, formatText, formatHTML)
	}
	u, err := egress.ParseURL(in.URL)
	if err != nil {
		return nil, fmt.Errorf("url %q: %w", short(in.URL, 200), err)
	}
	return u, nil
}

func (in webfetchInput) timeout() time.Duration {
	if in.Timeout == 0 {
		return FetchTimeout
	}
	return time.Duration(in.Timeout) * time.Second
}

// sameSite reports whether a redirect stays within what the permission covers:
// the same host, apart from a leading "www.", and the same port, apart from
// http to https.
func sameSite(from, to *url.URL) bool {
	bare := func(u *url.URL) string { return strings.TrimPrefix(u.Hostname(), "www.") }
	return bare(from) == bare(to) && from.Port() == to.Port()
}

var errFetchTimeout = errors.New("timeout")

func webfetch(ctx context.Context, client *http.Client, u *url.URL, in webfetchInput) (pawl.Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, in.timeout(), errFetchTimeout)
	defer cancel()
	result, err := fetch(ctx, client, u, in.Format)
	switch {
	case err == nil:
		return result, nil
	case errors.Is(context.Cause(ctx), errFetchTimeout):
		return pawl.Result{}, fmt.Errorf("fetch %s: it took longer than %s", shownURL(u), in.timeout())
	case ctx.Err() != nil:
		return pawl.Result{}, context.Cause(ctx)
	}
	var outer *url.Error
	if errors.As(err, &outer) { // its text includes the URL as the last server spelled it
		err = outer.Err
	}
	return pawl.Result{}, fmt.Errorf("fetch %s: %s", shownURL(u), short(sanitize.Visible(err.Error()), faultChars)) // it may quote the server
}

func fetch(ctx context.Context, client *http.Client, u *url.URL, format string) (pawl.Result, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return pawl.Result{}, err
	}
	req.Header.Set("User-Agent", "pawl")
	req.Header.Set("Accept", "text/markdown, text/html, text/plain;q=0.9, */*;q=0.5")
	resp, err := client.Do(req)
	if err != nil {
		return pawl.Result{}, err
	}
	defer resp.Body.Close()
	final := resp.Request.URL
	if target, err := resp.Location(); err == nil && resp.StatusCode/100 == 3 {
		return toolapi.ErrorResult(fmt.Sprintf("%s leads to another host: %s\nIf you want that page, call webfetch with this address.", shownURL(u), shownURL(target))), nil
	}
	doc, err := readDocument(resp)
	if err == nil {
		err = ctx.Err() // if the server closes first, a page that was cut can look complete
	}
	var text string
	if err == nil {
		text, err = doc.render(ctx, format)
	}
	failed := resp.StatusCode/100 != 2
	switch {
	case err != nil && (!failed || ctx.Err() != nil):
		return pawl.Result{}, err
	case err != nil:
		text = "(" + err.Error() + ")"
	case failed:
		text = short(text, faultChars)
	}
	head := fmt.Sprintf("%s: %d %s, %s", shownURL(final), resp.StatusCode, http.StatusText(resp.StatusCode), doc.kind)
	if doc.cut {
		head += fmt.Sprintf("; cut: it is larger than %d bytes", FetchBytes)
	}
	return pawl.Result{
		Content: head + "\n" + sanitize.Untrusted(shownURL(final), text),
		IsError: failed,
		Meta: map[string]string{
			"url": shownURL(final), "status": strconv.Itoa(resp.StatusCode), "type": doc.kind, "bytes": strconv.Itoa(len(doc.data)),
		},
	}, nil
}

// faultChars is how many characters of an error page are shown.
const faultChars = 500
