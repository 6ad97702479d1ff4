package websearch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/pawl-dev/pawl/internal/model/protocol"
)

// code lists the services for code search.
var code = []kind{
	{
		id: "sourcegraph", url: "https://sourcegraph.com", urlVars: []string{"SRC_ENDPOINT"}, keyVars: []string{"SRC_ACCESS_TOKEN"}, open: true,
		request: sourcegraphRequest,
		parse:   parseSourcegraph,
	},
	{
		id: "exa", url: "https://api.exa.ai", keyVars: []string{"EXA_API_KEY"},
		request: func(base *url.URL, key string, q Query) (*http.Request, error) {
			text := q.Text
			if q.Lang != "" {
				text += " in " + q.Lang
			}
			if q.Repo != "" {
				text += " in the repository " + q.Repo
			}
			req, err := post(base, "context", map[string]any{"query": text, "tokensNum": contextTokens})
			return withHeader(req, "X-Api-Key", key), err
		},
		parse: parseContext,
	},
}

// contextTokens is the size of the answer that is requested from Exa.
const contextTokens = 5000

// lineLength is the maximum length of a line of code from Sourcegraph.
const lineLength = 300

func sourcegraphRequest(base *url.URL, key string, q Query) (*http.Request, error) {
	text := fmt.Sprintf("%s type:file count:%d", q.Text, q.Count)
	if q.Repo != "" {
		text += " repo:" + regexp.QuoteMeta(q.Repo)
	}
	if q.Lang != "" {
		text += " lang:" + strconv.Quote(q.Lang)
	}
	req, err := get(base, ".api/search/stream", url.Values{
		"q": {text}, "v": {"V3"}, "t": {"keyword"}, "cm": {"true"}, "cl": {"2"}, "max-line-len": {strconv.Itoa(lineLength)}, "display": {strconv.Itoa(q.Count)},
	})
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if key != "" {
		req.Header.Set("Authorization", "token "+key)
	}
	return req, nil
}

// match is a file in Sourcegraph's answer.
type match struct {
	Type, Repository, Path, Commit string
	ChunkMatches                   []struct {
		Content      string
		ContentStart struct{ Line int }
	}
	LineMatches []struct {
		Line       string
		LineNumber int
	}
}

// parseSourcegraph parses a stream of server-sent events.
func parseSourcegraph(base *url.URL, body []byte) ([]Hit, error) {
	var hits []Hit
	events := protocol.NewReader(bytes.NewReader(body))
	for {
		ev, err := events.Next()
		if errors.Is(err, io.EOF) {
			return hits, nil
		}
		if err != nil {
			return nil, errors.New("its answer is not what it should be: no stream of events")
		}
		switch string(ev.Name) {
		case "matches":
			var matches []match
			if err := decode(ev.Data, &matches); err != nil {
				return nil, err
			}
			for _, m := range matches {
				if m.Type == "content" || m.Type == "path" {
					hits = append(hits, m.hit(base))
				}
			}
		case "error":
			return nil, errors.New("it could not search")
		case "alert":
			if len(hits) == 0 {
				return nil, errors.New("it does not understand the query, or has no such repository or language")
			}
		case "done":
			return hits, nil
		}
	}
}

func (m match) hit(base *url.URL) Hit {
	var lines []string
	add := func(number int, line string) { lines = append(lines, fmt.Sprintf("%d: %s", number+1, line)) }
	first := -1
	for _, c := range m.ChunkMatches {
		if first < 0 {
			first = c.ContentStart.Line
		} else {
			lines = append(lines, "…")
		}
		for i, line := range strings.Split(strings.TrimSuffix(c.Content, "\n"), "\n") {
			add(c.ContentStart.Line+i, line)
		}
	}
	for _, l := range m.LineMatches {
		if first < 0 {
			first = l.LineNumber
		}
		add(l.LineNumber, l.Line)
	}
	repository := m.Repository
	if m.Commit != "" {
		repository += "@" + m.Commit
	}
	u := base.JoinPath(repository, "-/blob", m.Path)
	if first >= 0 {
		u.RawQuery = "L" + strconv.Itoa(first+1)
	}
	return Hit{m.Repository + " " + m.Path, u.String(), strings.Join(lines, "\n")}
}

// parseContext parses Exa's answer, a single text with examples.
func parseContext(_ *url.URL, body []byte) ([]Hit, error) {
	var answer struct {
		Response string
	}
	if err := decode(body, &answer); err != nil {
		return nil, err
	}
	if strings.TrimSpace(answer.Response) == "" {
		return nil, nil
	}
	return []Hit{{Title: "examples and documentation", Snippet: answer.Response}}, nil
}
