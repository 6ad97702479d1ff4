package websearch

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// web lists the services for web search.
var web = []kind{
	{
		id: "exa", url: "https://api.exa.ai", keyVars: []string{"EXA_API_KEY"},
		request: func(base *url.URL, key string, q Query) (*http.Request, error) {
			req, err := post(base, "search", map[string]any{
				"query": q.Text, "numResults": q.Count, "type": "auto", "contents": map[string]any{"highlights": true},
			})
			return withHeader(req, "X-Api-Key", key), err
		},
		parse: parseExa,
	},
	{
		id: "brave", url: "https://api.search.brave.com", keyVars: []string{"BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"},
		request: func(base *url.URL, key string, q Query) (*http.Request, error) {
			req, err := get(base, "res/v1/web/search", url.Values{
				"q": {q.Text}, "count": {strconv.Itoa(q.Count)}, "text_decorations": {"false"}, "result_filter": {"web"},
			})
			return withHeader(req, "X-Subscription-Token", key), err
		},
		parse: parseBrave,
	},
	{
		id: "tavily", url: "https://api.tavily.com", keyVars: []string{"TAVILY_API_KEY"},
		request: func(base *url.URL, key string, q Query) (*http.Request, error) {
			req, err := post(base, "search", map[string]any{"query": q.Text, "max_results": q.Count, "search_depth": "basic"})
			return withHeader(req, "Authorization", "Bearer "+key), err
		},
		parse: parseContent,
	},
	{
		id: "searxng", urlVars: []string{"SEARXNG_URL"},
		request: func(base *url.URL, _ string, q Query) (*http.Request, error) {
			return get(base, "search", url.Values{"q": {q.Text}, "format": {"json"}})
		},
		parse: parseContent,
	},
}

// withHeader sets a header of a request unless req is nil.
func withHeader(req *http.Request, name, value string) *http.Request {
	if req != nil {
		req.Header.Set(name, value)
	}
	return req
}

func parseExa(_ *url.URL, body []byte) ([]Hit, error) {
	var answer struct {
		Results []struct {
			Title, URL, Text string
			Highlights       []string
		}
	}
	if err := decode(body, &answer); err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(answer.Results))
	for _, r := range answer.Results {
		snippet := strings.Join(r.Highlights, " … ")
		if snippet == "" {
			snippet = r.Text
		}
		hits = append(hits, Hit{r.Title, r.URL, snippet})
	}
	return hits, nil
}

func parseBrave(_ *url.URL, body []byte) ([]Hit, error) {
	var answer struct {
		Web struct {
			Results []struct{ Title, URL, Description string }
		}
	}
	if err := decode(body, &answer); err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(answer.Web.Results))
	for _, r := range answer.Web.Results {
		hits = append(hits, Hit{untag(r.Title), r.URL, untag(r.Description)})
	}
	return hits, nil
}

// parseContent parses the answers of Tavily and SearXNG.
func parseContent(_ *url.URL, body []byte) ([]Hit, error) {
	var answer struct {
		Results []struct{ Title, URL, Content string }
	}
	if err := decode(body, &answer); err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(answer.Results))
	for _, r := range answer.Results {
		hits = append(hits, Hit{r.Title, r.URL, r.Content})
	}
	return hits, nil
}

var tag = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)

// untag removes HTML tags from a snippet.
func untag(s string) string { return html.UnescapeString(tag.ReplaceAllString(s, "")) }
