package lsp

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// The TypeScript server publishes no versions, publishes nothing for a file
// without problems, and delays its checks. But it forwards requests to
// tsserver, which gives exact answers.

type tsDiagnostic struct {
	Start struct {
		Line   int `json:"line"` // both from 1
		Offset int `json:"offset"`
	} `json:"start"`
	Text     string `json:"text"`
	Code     int    `json:"code"`
	Category string `json:"category"`
}

// tsRequest sends a request about a file to tsserver.
func (s *server) tsRequest(ctx context.Context, command, path string, body any) error {
	reply := struct {
		Body any `json:"body"`
	}{body}
	return s.conn.call(ctx, "workspace/executeCommand", map[string]any{
		"command":   "typescript.tsserverRequest",
		"arguments": []any{command, map[string]any{"file": path}},
	}, &reply)
}

// askTSServer returns the diagnostics of a file.
func (s *server) askTSServer(ctx context.Context, path string) ([]diagnostic, error) {
	severities := map[string]int{"error": 1, "warning": 2}
	var found []diagnostic
	for _, command := range []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync"} {
		var list []tsDiagnostic
		if err := s.tsRequest(ctx, command, path, &list); err != nil {
			return nil, err
		}
		for _, ts := range list {
			d := diagnostic{Message: ts.Text, Source: fmt.Sprintf("ts %d", ts.Code), Severity: severities[ts.Category]}
			if d.Severity == 0 {
				continue
			}
			d.Range.Start.Line, d.Range.Start.Character = ts.Start.Line-1, ts.Start.Offset-1
			found = append(found, d)
		}
		if len(found) > 0 {
			break // after a syntax error, semantic errors are guesswork
		}
	}
	return found, nil
}

// importers returns the files that import those of the question.
func (s *server) importers(ctx context.Context, q question) []string {
	var found []string
	for _, path := range slices.Sorted(maps.Keys(q.docs)) {
		var body struct {
			Refs []struct {
				File string `json:"file"`
			} `json:"refs"`
		}
		if err := s.tsRequest(ctx, "fileReferences", path, &body); err != nil {
			break // out of time, or the server does not support it
		}
		for _, ref := range body.Refs {
			if within(s.dir, ref.File) && !slices.Contains(found, ref.File) {
				found = append(found, ref.File)
			}
		}
	}
	return found
}
