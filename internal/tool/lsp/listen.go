package lsp

import (
	"encoding/json"
	"time"
)

var _ peer = (*server)(nil)

// request answers requests of the server. The server may read its settings and
// directories; requests to change something are refused.
func (s *server) request(method string, params json.RawMessage) (any, *rpcError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard()
	switch method {
	case "workspace/configuration":
		return s.configuration(params), nil
	case "workspace/workspaceFolders":
		return s.folders(), nil
	case "client/registerCapability":
		s.register(params)
		return nil, nil
	case "workspace/diagnostic/refresh":
		s.revision++
		s.wake()
		return nil, nil
	case "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest":
		return nil, nil
	case "workspace/applyEdit":
		return map[string]any{"applied": false}, nil
	}
	return nil, &rpcError{Code: codeMethodNotFound, Message: "pawl does not know " + oneLine(method)}
}

// configuration returns one value for each requested item.
func (s *server) configuration(params json.RawMessage) any {
	var p struct {
		Items []struct {
			Section string `json:"section"`
		} `json:"items"`
	}
	_ = json.Unmarshal(params, &p) // no items on error
	answers := make([]any, len(p.Items))
	for i, item := range p.Items {
		answers[i] = s.spec.Settings[item.Section]
	}
	return answers
}

func (s *server) register(params json.RawMessage) {
	var p registrationParams
	if json.Unmarshal(params, &p) != nil {
		return
	}
	for _, r := range p.Registrations {
		if r.Method == "textDocument/diagnostic" {
			s.pull = &r.Options
			s.wake()
		}
	}
}

func (s *server) notification(method string, params json.RawMessage) {
	switch method {
	case "textDocument/publishDiagnostics":
		var p publishParams
		if json.Unmarshal(params, &p) == nil {
			s.published(p)
		}
	case "$/progress":
		var p progressParams
		if json.Unmarshal(params, &p) == nil {
			s.progress(string(p.Token), p.Value.Kind)
		}
	default:
		s.mu.Lock()
		s.heard()
		s.mu.Unlock()
	}
}

// published stores published diagnostics of a file. For servers with pull
// diagnostics, those take precedence.
func (s *server) published(p publishParams) {
	path := fromURI(p.URI)
	found := newFaults(p.Diagnostics)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard()
	s.news++
	s.newsAt = time.Now()
	s.wake()
	if s.spec.TSServer || !within(s.dir, path) || len(path) > pathBytes {
		return
	}
	v := s.verdict(path)
	if v == nil {
		return
	}
	v.published, v.news, v.version = found, s.news, noVersion
	if p.Version != nil {
		v.version, s.versioned = *p.Version, true
	}
	s.forget(path)
}

// verdict returns the entry of a file, or nil if there are too many. Open
// documents always have one.
func (s *server) verdict(path string) *verdict {
	v := s.verdicts[path]
	if v == nil && (len(s.verdicts) < keptFiles || s.docs[path] != nil) {
		v = &verdict{}
		s.verdicts[path] = v
	}
	return v
}

// forget removes an empty entry, unless the document is open.
func (s *server) forget(path string) {
	if v := s.verdicts[path]; v != nil && v.empty() && s.docs[path] == nil {
		delete(s.verdicts, path)
	}
}

// progress records which work the server reports.
func (s *server) progress(token, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard()
	switch {
	case kind == "end" && s.work[token]:
		delete(s.work, token)
		s.revision++
	case kind == "begin" && len(s.work) < openWork && len(token) <= idBytes:
		s.work[token] = true
	}
	s.wake()
}

// heard records that the server has sent something.
func (s *server) heard() { s.askedAt = time.Time{} }

// wake wakes all waiters. The caller holds mu.
func (s *server) wake() {
	close(s.change)
	s.change = make(chan struct{})
}
