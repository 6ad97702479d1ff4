package tool

import (
	"context"
	_ "embed" // the description
	"errors"
	"strings"
	"unicode"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/tool/websearch"
)

//go:embed codesearch.md
var codesearchDescription string

type codesearchInput struct {
	Query string `json:"query" jsonschema:"words or code"`
	Repo  string `json:"repo,omitempty" jsonschema:"e.g. github.com/golang/go"`
	Lang  string `json:"lang,omitempty" jsonschema:"e.g. go"`
	Count int    `json:"count,omitempty" jsonschema:"results, 10 if left out, at most 20"`
}

// codeChars bounds the text of one result of codesearch; some services return
// everything in one result.
const codeChars = 20_000

// CodeSearch searches public code.
func CodeSearch(s Searcher) toolapi.Tool {
	finder := finder{s, CodeTimeout, codeChars}
	return define(definition[codesearchInput]{
		name:        "codesearch",
		description: codesearchDescription,
		risk:        toolapi.RiskModerate,
		access: func(_ toolapi.Call, in codesearchInput) ([]pawl.Access, error) {
			_, err := in.check()
			return finder.access(err)
		},
		run: func(ctx context.Context, _ toolapi.Call, in codesearchInput) (pawl.Result, error) {
			q, err := in.check()
			if err != nil {
				return pawl.Result{}, err
			}
			return finder.find(ctx, q)
		},
	})
}

func (in codesearchInput) check() (websearch.Query, error) {
	for _, name := range []string{in.Repo, in.Lang} {
		if strings.ContainsFunc(name, unicode.IsSpace) || len(name) > titleChars {
			return websearch.Query{}, errors.New("repo and lang are single words")
		}
	}
	return checkQuery(websearch.Query{Text: in.Query, Count: in.Count, Repo: in.Repo, Lang: in.Lang}, CodeResults, CodeMaxResults)
}
