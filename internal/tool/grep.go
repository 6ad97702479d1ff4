package tool

import (
	"context"
	_ "embed" // the description
	"fmt"
	"path/filepath"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/humanize"
	"github.com/pawl-dev/pawl/internal/tool/search"
	"github.com/pawl-dev/pawl/internal/tool/toolapi"
	"github.com/pawl-dev/pawl/internal/workspace"
)

//go:embed grep.md
var grepDescription string

type grepInput struct {
	Pattern    string `json:"pattern" jsonschema:"RE2 pattern"`
	Path       string `json:"path,omitempty" jsonschema:"file or directory"`
	Include    string `json:"include,omitempty" jsonschema:"like *.{ts,tsx}"`
	Mode       string `json:"mode,omitempty" jsonschema:"content, files or count"`
	Context    int    `json:"context,omitempty" jsonschema:"lines around each"`
	Literal    bool   `json:"literal,omitempty" jsonschema:"plain text"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"any case"`
}

// query validates the input.
func (in grepInput) query(call toolapi.Call) (search.Query, error) {
	var q search.Query
	var err error
	switch {
	case in.Mode != "" && in.Mode != "content" && in.Mode != "files" && in.Mode != "count":
		return q, fmt.Errorf("mode is %q and must be content, files or count", in.Mode)
	case in.Context < 0 || in.Context > GrepContext:
		return q, fmt.Errorf("context must be between 0 and %d lines", GrepContext)
	}
	q.Lines, q.Context = in.Mode == "" || in.Mode == "content", in.Context
	if q.Pattern, err = search.ParsePattern(in.Pattern, search.Options{Literal: in.Literal, IgnoreCase: in.IgnoreCase}); err != nil {
		return q, err
	}
	if q.Names, err = search.ParseNames(in.Include); err != nil {
		return q, fmt.Errorf("include: %w", err)
	}
	q.Path, err = searchPath(call, in.Path)
	q.Reads = call.Reads
	return q, err
}

// searchPath returns a path of a call with slashes. "" means the workspace.
func searchPath(call toolapi.Call, path string) (string, error) {
	if path == "" {
		return ".", nil
	}
	rel, err := relative(call, path)
	return filepath.ToSlash(rel), err
}

// Grep finds lines that match a pattern.
func Grep(engine search.Engine) toolapi.Tool {
	return define(definition[grepInput]{
		name:        "grep",
		description: grepDescription,
		risk:        toolapi.RiskSafe,
		access: func(call toolapi.Call, in grepInput) ([]pawl.Access, error) {
			q, err := in.query(call)
			if err != nil {
				return nil, err
			}
			return pathAccess(pawl.AccessRead, call, q.Path)
		},
		run: func(ctx context.Context, call toolapi.Call, in grepInput) (pawl.Result, error) {
			q, err := in.query(call)
			if err != nil {
				return pawl.Result{}, err
			}
			root, path := locate(call, q.Path)
			w, err := workspace.Open(root)
			if err != nil {
				return pawl.Result{}, err
			}
			defer w.Close()
			if q.Path = path; call.Reads != nil {
				q.Reads = func(path string) bool { return call.Reads(pathIn(call, root, path)) }
			}
			found, err := search.Grep(ctx, w, root, engine, q, search.Limits{
				Results: GrepMatches, LineChars: GrepLineChars, FileBytes: GrepFileBytes, Time: SearchTimeout,
			})
			if err != nil {
				return pawl.Result{}, fmt.Errorf("grep: %w", err)
			}
			for i := range found.Files {
				found.Files[i].Path = pathIn(call, root, found.Files[i].Path)
			}
			return pawl.Result{Content: showMatches(found, in)}, nil
		},
	})
}

// showMatches formats the matches for the model.
func showMatches(found search.Matches, in grepInput) string {
	var out page
	shown := 0
	for _, f := range found.Files {
		path := search.ShowPath(f.Path)
		switch in.Mode {
		case "files":
			shown += out.add(path + "\n")
		case "count":
			shown += out.add(fmt.Sprintf("%s: %d\n", path, f.Count))
		default:
			shown += showLines(&out, path, f.Lines, in.Context > 0)
		}
	}
	all, what := found.FileCount, "files"
	if in.Mode == "" || in.Mode == "content" {
		all, what = found.LineCount, fmt.Sprintf("matching lines in %s", humanize.Plural(found.FileCount, "file"))
	}
	switch {
	case found.FileCount == 0:
		out.note("no match in %s; %s", humanize.Plural(found.Searched, "file"), leftOut)
	case shown < all:
		out.note("%d of %d %s are shown: narrow the pattern, path or include", shown, all, what)
	case in.Mode == "count":
		out.note("%s in %s", humanize.Plural(found.LineCount, "line"), humanize.Plural(found.FileCount, "file"))
	}
	out.gaps(found.Gaps)
	return out.String()
}

// showLines writes the lines of a file and returns how many of them are
// matches.
func showLines(out *page, path string, lines []search.Line, context bool) int {
	head, hits, last := path+"\n", 0, 0
	if out.Len() > 0 {
		head = "\n" + head
	}
	for _, l := range lines {
		if context && last > 0 && l.Number > last+1 {
			head = "--\n"
		}
		mark := "-"
		if l.Hit {
			mark = ":"
		}
		n := out.add(fmt.Sprintf("%s%d%s%s\n", head, l.Number, mark, l.Text))
		if l.Hit {
			hits += n
		}
		head, last = "", l.Number
	}
	return hits
}
